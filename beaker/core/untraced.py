"""What to say of code that asks models and records none of the calls."""

from beaker.core.frameworks import RepoScan
from beaker.core.problems import Problem, Problems


def untraced(scan: RepoScan) -> Problems:
    """A warning (BK353) that names the frameworks that are used and the first place of that; empty where calls are
    recorded, and where no framework is known to be used."""
    if scan.instrumented or not scan.detections:
        return ()
    named = ", ".join(one.name for one in scan.detections)
    sites = [site for one in scan.detections for site in one.call_sites]
    message = f"models are asked with {named}, and no call is recorded, so a run cannot count tokens and money"
    hint = "`beaker trace instrument` says what to write where"
    return (Problem("BK353", message, sites[0] if sites else "", hint),)

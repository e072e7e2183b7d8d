"""What the first stage of smoke judges: the configuration, before anything of it is run."""

from beaker.core.problems import Problem
from beaker.files.build_files import judge_build
from beaker.runtime.judged_command import judge_command
from beaker.runtime.launchable import Findings, judge_checkout, judge_settings
from beaker.runtime.smoke_values import SmokeRequest


def judge_config(request: SmokeRequest) -> Findings:
    """What a launch or a build would refuse of the entry, the settings and the environment.

    What concerns a build is a warning for a run on this machine, and what is unset here is one elsewhere.
    """
    settings = judge_settings(request.config, local=request.local, kind=request.entry.kind)
    problems = [*request.entry.problems, *settings.failures]
    warnings = settings.warnings
    builds = () if request.entry.problems else judge_build(request.code.repository, request.entry)
    if request.local:
        warnings += builds  # nothing is built for a run on this machine
    else:
        problems += builds
    warnings += judge_command(
        request.code.repository, request.config, request.env, local=request.local, kind=request.entry.kind
    )
    unset = tuple(
        Problem("BK121", "is not set here", name, "set it in the environment or in .beaker/.env")
        for name in request.missing_env
    )
    if request.local:
        problems += unset
        hint = "set it in the environment of the command, or take it out of proposer_env"
        problems += (
            Problem("BK121", "is not set here, and the proposer is to get it", name, hint)
            for name in request.missing_proposer_env
        )
        warnings += judge_checkout(request.code.repository, request.code.source_dir, config_file=request.config_file)
    else:
        warnings += unset
    return Findings(tuple(problems), warnings)

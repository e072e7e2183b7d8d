"""What the codes BK8xx mean: the API: transport, credentials, answers."""

ENTRIES = {
    "BK801": (
        "A program called the API in a way that it does not offer.",
        "Correct the call; docs/client.md lists all.",
    ),
    "BK802": (
        "A call needs the key of an agent, and none is given.",
        "Pass `agent_key` to the client, or --agent.",
    ),
    "BK803": (
        "There was no whole answer from the service: not connected, timed out, cut off.",
        "Check the address and the network, then try again. What was asked may or may not have been done.",
    ),
    "BK804": (
        "The answer is not what the API promises.",
        "Check the base URL; a login page or a proxy may stand in between.",
    ),
    "BK805": (
        "The service refused the request; its own words are shown.",
        "Do what they say.",
    ),
    "BK806": (
        "The service does not accept the credential.",
        "Log in again (`beaker login`), or pass another API key (--api-key, BEAKER_API_KEY).",
    ),
    "BK807": (
        "The service has no such thing, or does not show it to you.",
        "Check the id, the agent, and who is logged in.",
    ),
    "BK808": (
        "The service failed.",
        "Try again later; report it with its request id if it stays.",
    ),
    "BK809": (
        "An address cannot be used: no URL, plain http to another machine, or it redirects to somewhere else.",
        "Correct the base URL; --insecure-http allows plain http.",
    ),
    "BK810": (
        "What arrived at the place is not what was sent.",
        "Upload again when nothing changes the files.",
    ),
    "BK811": (
        "The place answered an upload with something that cannot be followed.",
        "Try again; tell whoever runs it.",
    ),
    "BK812": (
        "The place answered a download with something that cannot be followed.",
        "Try again; tell whoever runs it.",
    ),
    "BK813": (
        "A file that arrived is not the one that was announced.",
        "Try again.",
    ),
    "BK814": (
        "A file changed while it was read for an upload.",
        "Upload again.",
    ),
    "BK815": (
        "A file cannot travel: it is a link out of the folder or to a hidden file, or no plain file.",
        "Copy the file itself into the folder.",
    ),
    "BK816": (
        "Rows of a dataset are faulty, so nothing was sent.",
        "Correct the rows that are listed.",
    ),
    "BK819": (
        "A program fed a transfer an event that it does not wait for.",
        "Follow the order that docs/embedding.md gives.",
    ),
    "BK820": (
        "The login was not confirmed: denied, expired, used already, or nobody answered in time.",
        "Run `beaker login` again, with a longer --timeout if need be.",
    ),
    "BK821": (
        "The service answered a login with something that cannot be followed.",
        "Check the base URL.",
    ),
    "BK822": (
        "You may not connect GitHub for this organization, or the service refused.",
        "Ask an administrator of the organization.",
    ),
    "BK823": (
        "GitHub access did not come within the time.",
        "Give the access in the browser, and run the command again.",
    ),
    "BK824": (
        "The service answered about GitHub with something that cannot be followed.",
        "Check the base URL.",
    ),
    "BK825": (
        "The place answered a list or a result that lacks what it must hold.",
        "Check the base URL; tell whoever runs it.",
    ),
    "BK829": (
        "A program fed a login or a GitHub connection an event that it does not wait for.",
        "Begin it anew.",
    ),
    "BK830": (
        "The service is more than one version ahead of the client, which may not understand what it answers.",
        "Install the version of the service; docs/api.md says which fit.",
    ),
    "BK831": (
        "The service is of an older version than the client, so it may refuse what is asked, or leave parts out.",
        "Tell whoever runs the service, or use the client of its version; docs/api.md says which fit.",
    ),
}

"""What the codes BK6xx mean: documents, change sets, edits of the repository."""

ENTRIES = {
    "BK600": (
        "The name of a document cannot be one.",
        "Use plain relative paths without special characters.",
    ),
    "BK601": (
        "There are more documents than a target may hold.",
        "Split them, or leave some out.",
    ),
    "BK602": (
        "A document is larger than one may be.",
        "Split it.",
    ),
    "BK603": (
        "All documents together are larger than a target may be.",
        "Leave some out.",
    ),
    "BK604": (
        "Two documents have one name, or differ only in case or Unicode form.",
        "Rename one of them.",
    ),
    "BK605": (
        "One document's name is the folder of another.",
        "Rename one of them.",
    ),
    "BK606": (
        "Two documents have one `source_id`.",
        "Give each document one of its own.",
    ),
    "BK607": (
        "A document belongs to a group that is not declared.",
        "Declare the group, or move the document.",
    ),
    "BK608": (
        "A document or its name is not UTF-8 text.",
        "Documents are text; save it as UTF-8.",
    ),
    "BK609": (
        "Something in a document tree is no plain file in the folder of its group.",
        "Replace links and special files, and move files into their group's folder.",
    ),
    "BK610": (
        "An edit writes a document under another spelling of its name.",
        "Keep the spelling; a new name is a delete and a create.",
    ),
    "BK611": (
        "An edit changes a document that is marked `editable=False`.",
        "Leave it as it is.",
    ),
    "BK612": (
        "A change set is not written as one.",
        "Correct the JSON path that is named; docs/changesets.md has the form.",
    ),
    "BK613": (
        "A change set has two operations on one document.",
        "Keep one of them.",
    ),
    "BK614": (
        "A document would be both a file and a folder, or stands in the store twice.",
        "Correct what is named.",
    ),
    "BK615": (
        "A document has another version than the one that the change set was made for.",
        "Make the change set anew from what is there now.",
    ),
    "BK616": (
        "A document is not what the change set expects: it was changed, is missing, or exists already.",
        "Look at it; `beaker changes apply --dry-run` lists all conflicts and changes nothing.",
    ),
    "BK617": (
        "An operation is about a group that the change set does not declare.",
        "Add the group to it.",
    ),
    "BK618": (
        "What was named is no change set.",
        "Name a JSON file below changes/ of a pulled run.",
    ),
    "BK620": (
        "The folder that holds documents does not exist or cannot be used.",
        "Name the folder above the groups.",
    ),
    "BK621": (
        "Another `beaker changes` command is at work in this folder.",
        "Wait until it has ended.",
    ),
    "BK622": (
        "What an interrupted apply left behind cannot be read.",
        "Look at the folder that is named; restore from it by hand, then remove it.",
    ),
    "BK623": (
        "A change set was applied in part and could not be undone at once.",
        "Repair the cause that is named; the next `beaker changes` command goes on.",
    ),
    "BK624": (
        "This change set was not applied here, so it cannot be taken back.",
        "Name one that was.",
    ),
    "BK625": (
        "The record of an applied change set cannot be read.",
        "Remove it; that change set can no longer be taken back.",
    ),
    "BK630": (
        "An edit touches something outside the declared targets.",
        "Edit only what `targets` allows.",
    ),
    "BK631": (
        "An edit touches a link or a submodule.",
        "Edit plain files only.",
    ),
    "BK632": (
        "The path of an edit cannot be one, or is kept for Git or Beaker.",
        "Use plain relative paths.",
    ),
    "BK633": (
        "Two paths differ only in case or Unicode form.",
        "Rename one of them.",
    ),
    "BK634": (
        "A path is both a file and a folder.",
        "Rename one of them.",
    ),
    "BK635": (
        "A candidate edits more, or larger, files than one may.",
        "Make a smaller change.",
    ),
}

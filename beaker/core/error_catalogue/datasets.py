"""What the codes BK2xx mean: datasets, splits, rows, manifests."""

ENTRIES = {
    "BK201": (
        "A file of rows or a JSON text is not UTF-8.",
        "Save it as UTF-8, uncompressed.",
    ),
    "BK202": (
        "A text is not valid JSON, or is nested too deeply.",
        "Correct it at the line and column that are named; NaN, Infinity and repeated keys are no JSON.",
    ),
    "BK203": (
        "The revision of a dataset is blank, named twice, or not one.",
        "Name one revision, as NAME@REVISION or with --revision; leave it out for what was promoted last.",
    ),
    "BK204": (
        "The dataset has no revision that could be used.",
        "`beaker dataset list` shows what there is.",
    ),
    "BK205": (
        "Two files have the same path once it is normalised, so one would replace the other.",
        "Rename one of them.",
    ),
    "BK206": (
        "A reference to a dataset cannot be one.",
        "Write NAME or NAME@REVISION.",
    ),
    "BK207": (
        "This is the name of no split.",
        "Splits are train and test.",
    ),
    "BK208": (
        "A count of rows is no whole number from 0 up.",
        "Correct it, or leave it out and rows are counted.",
    ),
    "BK209": (
        "Counts do not agree: with the rows that are there, with each other, or one is missing.",
        "Correct the count, or leave it out and rows are counted.",
    ),
    "BK210": (
        "A split is missing: its file is not there, or cannot be opened.",
        "A dataset is a folder with train.jsonl and test.jsonl.",
    ),
    "BK211": (
        "A split has no rows.",
        "Put at least one row into it: a run learns on TRAIN and proves it on TEST.",
    ),
    "BK212": (
        "The name of a dataset cannot be one.",
        "Take a printable name without `@` and `://`.",
    ),
    "BK213": (
        "There are no files to upload.",
        "Give the folder that holds train.jsonl.",
    ),
    "BK214": (
        "A line of a .jsonl file is no JSON object.",
        "Each line is one row: one JSON object.",
    ),
    "BK215": (
        "The manifest of a dataset is no JSON object.",
        "Correct metadata.json, or remove it.",
    ),
    "BK216": (
        "The folder of a dataset does not exist, or is a file.",
        "Name the folder that holds the files.",
    ),
    "BK217": (
        "It is open which dataset is to be evaluated.",
        "Name a folder, or an uploaded one as NAME@REVISION.",
    ),
    "BK218": (
        "The path of a file to upload cannot be one.",
        "Use relative paths without `..`; the path is named.",
    ),
    "BK219": (
        "A program asked for a dataset, and none is named, or the address that is named cannot be read.",
        "Set `dataset_ref` in the configuration, or name the dataset in the call.",
    ),
    "BK220": (
        "`run smoke` checked a folder, and a launch will use another dataset. This is a warning.",
        "`run smoke --dataset NAME` checks the one that a launch uses; upload the folder when it is newer.",
    ),
    "BK221": (
        "A line of a dataset is too long to be a row.",
        "Write one JSON object per line; what a row refers to can lie in a file of its own.",
    ),
    "BK222": (
        "Two rows are bound to give the same case id: `load_cases` makes it of fields that are equal in both.",
        "Remove the row that came in twice, or make ids of what differs in every row.",
    ),
    "BK240": (
        "The integration's row model does not take a row, or failed on it.",
        "Correct the row, or the model; docs/row-models.md explains both.",
    ),
    "BK241": (
        "Many rows are faulty; only some are shown.",
        "Correct those, and run it again to see what is left.",
    ),
    "BK242": (
        "The dataset changed while it was read.",
        "Start again when nothing writes into it.",
    ),
}

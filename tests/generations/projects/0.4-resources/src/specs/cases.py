from beaker import Case, CaseScore


def case_of(row):
    return Case(row["word"], row["id"], {"kind": row["kind"]})


def score_of(case, result):
    right = float(result.output == case.ground_truth["kind"])
    return CaseScore({"kind": right}, right, "words")

"""The proposer: reads scored cases, works out rules that would have read them right, and writes them into playbooks.

It knows how a playbook is written and nothing about any vendor. A rule comes from finding the expected value in an
invoice's text: what stands in front of it is the label, how it is written is the form. A rule stays only if it is
right on more of that vendor's cases than without it, and wrong on next to none; a vendor gets a playbook only when
number, date or total were found in its invoices. Started by Beaker in a working copy, as `docs/proposers.md` describes.
"""

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from invoice_reader import (
    Playbook,
    apply_rule,
    cells,
    choose_playbook,
    parse_playbook,
    read_amount,
    read_invoice,
    squeezed,
)

Expected = Mapping[str, str]
Example = tuple[str, Expected]
"""An invoice's text and what it says."""

READ_FIELDS = ("number", "date", "total")


def main() -> None:
    """Improve the playbooks of the working copy in place."""
    folder = Path(os.environ["BEAKER_WORKSPACE"]) / "documents" / "playbooks"
    examples = list(read_evidence(Path(os.environ["BEAKER_EVIDENCE"]) / "cases"))
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    for name, text in learn(texts, examples).items():
        if texts.get(name) != text:
            print(f"{'changed' if name in texts else 'new'}: {name}")
            (folder / name).write_text(text, encoding="utf-8")


def read_evidence(folder: Path) -> Iterator[Example]:
    """Every case of the evidence that has an expected value."""
    for path in sorted(folder.glob("*.json"), key=lambda path: (len(path.name), path.name)):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["expected"]:
            yield case["input"]["text"], case["expected"]


def learn(texts: Mapping[str, str], examples: list[Example]) -> dict[str, str]:
    """The playbooks `texts`, by file name, with what the examples teach added."""
    learned = dict(texts)
    by_vendor: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_vendor[example[1]["vendor"]].append(example)
    for vendor, cases in sorted(by_vendor.items()):
        others = [text for text, expected in examples if expected["vendor"] != vendor]
        name, text = own_playbook(learned, vendor)
        improved = improve(text, vendor, cases, others, learned, name)
        if improved is not None:
            learned[name] = improved
    return learned


def own_playbook(texts: Mapping[str, str], vendor: str) -> tuple[str, str]:
    """File name and text of the vendor's playbook; a new one has no text."""
    for name, text in texts.items():
        if vendor in parse_playbook(text).all("vendor"):
            return name, text
    return re.sub(r"[^a-z0-9]+", "-", vendor.casefold()).strip("-") + ".txt", ""


def improve(
    text: str, vendor: str, cases: list[Example], others: list[str], texts: Mapping[str, str], name: str
) -> str | None:
    """The vendor's playbook with better rules, or `None` when the cases teach nothing that helps."""
    lines = text.splitlines()
    books = {other: parse_playbook(content) for other, content in texts.items()}
    if all(read_invoice(page, books) == dict(expected) for page, expected in cases):
        return None
    if not text:
        lines.append(f"vendor: {vendor}")
    own = books.get(name)
    unseen = [page for page, _ in cases if own is None or choose_playbook(page, books) is not own]
    if unseen:
        phrase = common_phrase(vendor, unseen, others)
        if phrase is None:
            return None  # without a way to recognise the vendor its rules would be of no use
        lines.append(f"seen as: {phrase}")
    found = False
    for field in READ_FIELDS:
        rules, months = field_rules(field, lines, cases, books)
        added = [f"{field}: {rule}" for rule in rules] + [f"month: {word} = {number}" for word, number in months]
        lines += [line for line in added if line not in lines]
        found = found or bool(rules)
    currencies = {expected["currency"] for _, expected in cases}
    if found and len(currencies) == 1 and not parse_playbook("\n".join(lines)).all("currency"):
        lines.append(f"currency: {currencies.pop()}")
    if not text and not found:
        return None  # none of the expected values stands in these invoices: nothing to learn from them
    return "\n".join(lines) + "\n"


def common_phrase(vendor: str, pages: list[str], others: list[str]) -> str | None:
    """The line most of these invoices share, that no other vendor's has, and that shares a word with its name."""
    words = set(re.findall(r"\w{4,}", vendor.casefold()))
    count: dict[str, int] = defaultdict(int)
    for page in pages:
        for line in dict.fromkeys(squeezed(line) for line in page.splitlines()):
            if words & set(re.findall(r"\w{4,}", line)) and not any(line in squeezed(other) for other in others):
                count[line] += 1
    return max(count, key=lambda line: count[line], default=None)


def field_rules(
    field: str, lines: list[str], cases: list[Example], books: Mapping[str, Playbook]
) -> tuple[list[str], list[tuple[str, int]]]:
    """New rules for one field, each better than none on these cases, and the month words they need."""
    months = {left.casefold(): right for left, right in _months([*books.values(), parse_playbook("\n".join(lines))])}
    rules = parse_playbook("\n".join(lines)).all(field)
    new: list[str] = []
    words: dict[str, int] = {}
    candidates = [found for page, expected in cases for found in candidate_rules(field, page, expected)]
    while True:
        known = {**months, **{word: str(number) for word, number in words.items()}}
        missing = [(page, e[field]) for page, e in cases if first(field, [*rules, *new], page, known) != e[field]]
        best: tuple[int, str, tuple[str, int] | None] = (0, "", None)
        for rule, month in candidates:
            tried = known | ({month[0]: str(month[1])} if month else {})
            right = sum(first(field, [*rules, *new, rule], page, tried) == value for page, value in missing)
            wrong = sum(apply_rule(field, rule, page, tried) not in (None, e[field]) for page, e in cases)
            # One misread case must not cost a rule that many others confirm.
            if right - 2 * wrong > best[0]:
                best = (right - 2 * wrong, rule, month)
        if not best[0]:
            return new, sorted(words.items())
        if best[1] not in new:
            new.append(best[1])
        if best[2]:
            words[best[2][0]] = best[2][1]


def first(field: str, rules: list[str], page: str, months: Mapping[str, str]) -> str | None:
    """What the first rule that finds anything finds."""
    return next((found for rule in rules if (found := apply_rule(field, rule, page, months)) is not None), None)


Candidate = tuple[str, tuple[str, int] | None]
"""A rule, and the month word it needs to know."""


def candidate_rules(field: str, page: str, expected: Expected) -> Iterator[Candidate]:
    """Every rule under which this invoice would give the expected value."""
    rows = [row for row in (cells(line) for line in page.splitlines()) if row]
    for number, row in enumerate(rows):
        for place, cell in enumerate(row):
            before = row[place - 1] if place else (rows[number - 1][-1] if number else "")
            for start, form, month in written(field, cell, expected[field]):
                label = cell[:start].strip(" :.#") or before.strip(" :.#")
                if label and not label[-1].isdigit():
                    yield (f"{label} | {form}" if form else label), month


def written(field: str, cell: str, value: str) -> Iterator[tuple[int, str, tuple[str, int] | None]]:
    """Where and how `value` is written in `cell`: its start, its form, and a month word that stands for a number."""
    if field == "number":
        for match in re.finditer(r"\S+", cell):
            if match.group().casefold() == value.casefold():
                yield match.start(), "", None
    elif field == "total":
        start = re.search(r"\d", cell)
        for sample in ("1,234.56", "1.234,56", "1 234,56", "1'234.56", "1,234") if start else ():
            if start and read_amount(cell[start.start() :], sample) == value:
                # What stands around the amount to name its currency is no part of the label.
                label = re.sub(r"(?:[^\w\s]|\b[A-Z]{3}\b|\s)+$", "", cell[: start.start()])
                yield len(label), sample, None
    else:
        yield from date_forms(cell, *map(int, value.split("-")))


def date_forms(cell: str, year: int, month: int, day: int) -> Iterator[tuple[int, str, tuple[str, int] | None]]:
    """Forms under which `cell` holds this date: its numbers named by what they equal, a word as the month's name."""
    tokens = list(re.finditer(r"\d+|[^\W\d_]+|[\W_]+", cell))
    for start in range(len(tokens)):
        for end in range(start + 3, min(len(tokens), start + 9) + 1):
            part = tokens[start:end]
            names = [_date_part(token.group(), year, month, day) for token in part]
            if names.count("YYYY") != 1 or names.count("DD") != 1:
                continue
            spelled = [name or token.group() for name, token in zip(names, part, strict=True)]
            if names.count("MM") == 1 and names[0] and names[-1]:
                yield part[0].start(), "".join(spelled), None
            elif "MM" not in names:
                for place, token in enumerate(part):
                    outer = [name or (place == i) for i, name in ((0, names[0]), (len(part) - 1, names[-1]))]
                    if token.group().isalpha() and len(token.group()) > 2 and all(outer):
                        form = "".join([*spelled[:place], "MONTH", *spelled[place + 1 :]])
                        yield part[0].start(), form, (token.group().casefold(), month)


def _date_part(token: str, year: int, month: int, day: int) -> str | None:
    if not token.isdigit():
        return None
    if len(token) == 4:
        return "YYYY" if int(token) == year else None
    # When day and month are equal the order cannot be seen; other invoices of the vendor show it.
    return "DD" if int(token) == day else "MM" if int(token) == month else None


def _months(books: list[Playbook]) -> Iterator[tuple[str, str]]:
    for book in books:
        for pair in book.all("month"):
            left, _, right = pair.partition("=")
            yield left.strip(), right.strip()


if __name__ == "__main__":
    main()

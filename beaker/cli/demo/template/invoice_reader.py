"""The application: reads an invoice's fields by rules that stand in playbooks.

A playbook is a text file of `key: value` lines; `#` starts a comment.

    vendor: Nordwind Logistik GmbH      whose invoices these are
    seen as: nordwind logistik          text by which they are recognised
    number: Rechnung Nr.                the label in front of the value
    date: Rechnungsdatum | DD.MM.YYYY   the label, and how the value is written
    total: Gesamtbetrag | 1.234,56      likewise, as a sample
    currency: EUR                       what this vendor always bills in

`general.txt` holds the rules for everyone else; `symbol: € = EUR` and `month: march = 3` lines count in every playbook.
Several rules for one field are tried in order. Only the standard library is used.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

FIELDS = ("vendor", "number", "date", "currency", "total")

Fields = dict[str, str | None]


@dataclass(frozen=True)
class Playbook:
    """The rules of one file: `(key, value)` in the order of the file."""

    rules: tuple[tuple[str, str], ...]

    def all(self, key: str) -> list[str]:
        """Every value of `key`, in order."""
        return [value for name, value in self.rules if name == key]


def parse_playbook(text: str) -> Playbook:
    """Read one playbook; lines without a colon are ignored."""
    rules = []
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and not line.lstrip().startswith("#"):
            rules.append((key.strip().lower(), value.strip()))
    return Playbook(tuple(rules))


def read_invoice(text: str, playbooks: Mapping[str, Playbook]) -> Fields:
    """The fields of one invoice, `None` where no rule finds any. `playbooks` maps file names to playbooks."""
    general = playbooks.get("general.txt", Playbook(()))
    own = choose_playbook(text, playbooks)
    months = dict(_pairs(playbooks, "month"))
    symbols = dict(_pairs(playbooks, "symbol"))
    found: Fields = {}
    for field in ("number", "date", "total"):
        rules = [*(own.all(field) if own else ()), *general.all(field)]
        values = (apply_rule(field, rule, text, months) for rule in rules)
        found[field] = next((value for value in values if value is not None), None)
    vendor = own.all("vendor") if own else []
    currency = own.all("currency") if own else []
    return {
        "vendor": vendor[0] if vendor else _first_line(text),
        "number": found["number"],
        "date": found["date"],
        "currency": currency[0] if currency else _currency(text, symbols),
        "total": found["total"],
    }


def choose_playbook(text: str, playbooks: Mapping[str, Playbook]) -> Playbook | None:
    """The playbook whose `seen as` text stands in the invoice; the longest such text wins."""
    page = squeezed(text)
    hits = [
        (len(phrase), name, playbook)
        for name, playbook in sorted(playbooks.items())
        for phrase in map(squeezed, playbook.all("seen as"))
        if phrase and phrase in page
    ]
    return max(hits, key=lambda hit: hit[:2])[2] if hits else None


def apply_rule(field: str, rule: str, text: str, months: Mapping[str, str]) -> str | None:
    """What one rule (`label` or `label | form`) finds in the invoice, as the field's standard text."""
    label, _, form = (part.strip() for part in rule.partition("|"))
    for value in labelled(text, label):
        match field:
            case "date":
                read = read_date(value, form or "YYYY-MM-DD", months)
            case "total":
                read = read_amount(value, form or "1,234.56")
            case _:
                read = next((word for word in value.split() if any(map(str.isdigit, word))), None)
        if read is not None:
            return read
    return None


def labelled(text: str, label: str) -> Iterator[str]:
    """The texts that stand behind `label`: in the same cell, else in the next cell or on the next line."""
    wanted = squeezed(label)
    rows = [row for row in (cells(line) for line in text.splitlines()) if row]
    for number, row in enumerate(rows):
        for place, cell in enumerate(row):
            shown = " ".join(cell.split())
            if not wanted or not shown.casefold().startswith(wanted):
                continue
            rest = shown[len(wanted) :]
            if rest[:1].isalpha() and wanted[-1:].isalpha():
                continue  # "Date" is no label of "Dated ..."
            rest = rest.strip(" :.#")
            if rest:
                yield rest
            elif place + 1 < len(row):
                yield " ".join(row[place + 1].split())
            elif number + 1 < len(rows):
                yield " ".join(rows[number + 1][0].split())


def cells(line: str) -> list[str]:
    """The parts of a line that wide gaps, tabs or dot leaders separate."""
    return [part.strip() for part in re.split(r" {3,}|\t|\.{4,}", line) if part.strip()]


def squeezed(text: str) -> str:
    """`text` in lower case with single blanks, as labels are compared."""
    return " ".join(text.split()).casefold()


def read_date(value: str, form: str, months: Mapping[str, str]) -> str | None:
    """The date in `value`, written like `form` (YYYY, MM, DD, MONTH and what stands between), in ISO form."""
    pattern = re.escape(squeezed(form)).replace(r"\ ", r"\s+")
    for part, group in (("yyyy", r"(?P<y>\d{4})"), ("month", r"(?P<word>[^\W\d_]+)"), ("mm", r"(?P<m>\d{1,2})")):
        pattern = pattern.replace(part, group, 1)
    match = re.search(r"(?<!\d)" + pattern.replace("dd", r"(?P<d>\d{1,2})", 1) + r"(?!\d)", squeezed(value))
    if match is None:
        return None
    parts = match.groupdict()
    month = parts.get("m") or months.get(parts.get("word") or "", "")
    if not month or not parts.get("y") or not parts.get("d"):
        return None
    if not (1 <= int(month) <= 12 and 1 <= int(parts["d"]) <= 31):
        return None
    return f"{parts['y']}-{int(month):02d}-{int(parts['d']):02d}"


def read_amount(value: str, sample: str) -> str | None:
    """The first amount in `value` that is written like `sample` (`1.234,56`, `1 234`), with two decimals."""
    found = re.fullmatch(r"\d(\D?)\d{3}(?:(\D)\d{2})?", sample)
    if found is None:
        return None
    group, decimal = found.group(1), found.group(2)
    space = r"[\s\u00a0\u202f]" if group == " " else re.escape(group)
    whole = rf"\d{{1,3}}(?:{space}\d{{2,3}})+|\d+" if group else r"\d+"
    end = rf"{re.escape(decimal)}(\d{{2}})" if decimal else "()"
    match = re.search(rf"(?<![\d.,'])({whole}){end}(?![\d.,'])", value)
    if match is None:
        return None
    return f"{int(re.sub(r'[^0-9]', '', match.group(1)))}.{match.group(2) or '00'}"


def _pairs(playbooks: Mapping[str, Playbook], key: str) -> Iterator[tuple[str, str]]:
    for _, playbook in sorted(playbooks.items()):
        for value in playbook.all(key):
            left, equals, right = (part.strip() for part in value.partition("="))
            if equals:
                yield left.casefold(), right


def _first_line(text: str) -> str | None:
    return next((" ".join(line.split()) for line in text.splitlines() if line.strip()), None)


def _currency(text: str, symbols: Mapping[str, str]) -> str | None:
    page = text.casefold()
    return next((code for symbol, code in symbols.items() if symbol in page), None)

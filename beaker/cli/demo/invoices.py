"""Makes the demo's dataset: invoices of a dozen vendors as a scanner would hand them on, with what they say.

Vendors differ in language, labels, date and number formats, currency and layout; scans add spacing, page furniture and
now and then a misread digit. Everything comes from one seed, so that every machine gets the same rows.
"""

import random
from collections.abc import Callable
from typing import Any

from beaker.cli.demo.vendors import VENDORS, Money, Vendor

SEED = 20240617
TRAIN_ROWS, TEST_ROWS = 60, 40

_ENGLISH = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_FRENCH = (
    "janvier", "février", "mars", "avril", "mai", "juin",
    "juillet", "août", "septembre", "octobre", "novembre", "décembre",
)  # fmt: skip
_SPANISH = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio",
    "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
)  # fmt: skip

Row = dict[str, Any]


def make_rows(seed: int = SEED, *, train: int = TRAIN_ROWS, test: int = TEST_ROWS) -> tuple[list[Row], list[Row]]:
    """TRAIN and TEST rows `{"id", "text", "expected": {"vendor", "number", "date", "currency", "total"}}`.

    `date` is ISO, `total` has two decimals. Two invoices of TEST come from a vendor that TRAIN does not have.
    """
    chance = random.Random(seed)
    known = [vendor for vendor in VENDORS for _ in range(vendor.share)]
    chosen = [chance.choice(known) for _ in range(train + test)]
    for place in chance.sample(range(train, train + test), min(2, test)):
        chosen[place] = VENDORS[-1]
    rows = [_row(f"inv-{number:04d}", vendor, chance) for number, vendor in enumerate(chosen, 1)]
    return rows[:train], rows[train:]


def _row(identifier: str, vendor: Vendor, chance: random.Random) -> Row:
    year, month, day = chance.choice((2023, 2024)), chance.randint(1, 12), chance.randint(1, 28)
    number = vendor.number_form.format(chance.randint(1, 999), y=year, yy=year % 100)
    lines = [(name, chance.randint(1, 40), chance.randint(400, 60_000)) for name in vendor.items]
    if vendor.money.decimals == 0:
        lines = [(name, count, price * 100) for name, count, price in lines]
    net = sum(count * price for _, count, price in lines)
    tax = net * vendor.tax[1] // 100
    if vendor.money.decimals == 0:
        tax -= tax % 100
    total = net + tax
    text = _paper(vendor, number, (year, month, day), lines, (net, tax, total), chance)
    expected = {
        "vendor": vendor.name,
        "number": number,
        "date": f"{year}-{month:02d}-{day:02d}",
        "currency": vendor.currency,
        "total": f"{total // 100}.{total % 100:02d}",
    }
    return {"id": identifier, "text": text, "expected": expected}


def _paper(
    vendor: Vendor,
    number: str,
    date: tuple[int, int, int],
    lines: list[tuple[str, int, int]],
    sums: tuple[int, int, int],
    chance: random.Random,
) -> str:
    def pick(labels: tuple[str, ...]) -> str:
        return labels[-1] if len(labels) > 1 and chance.random() < 0.25 else labels[0]

    year, month, day = date
    due_month, due_year = (month % 12 + 1, year + (month == 12))
    place = _LAYOUTS[vendor.layout]
    # A scanner misreads a zero in about one number of twenty-five; no rule can mend that.
    shown_number = number.replace("0", "O", 1) if chance.random() < 0.04 else number
    head = list(vendor.letterhead)
    if chance.random() < 0.2:
        head.insert(0, chance.choice(("Page 1 of 1", "COPY", "- 1 -", "Scan 0431")))
    facts = [(pick(vendor.number), shown_number), (pick(vendor.date), _date(vendor.date_form, year, month, day))]
    facts.append((vendor.due, _date(vendor.date_form, due_year, due_month, day)))
    if chance.random() < 0.4:
        facts.insert(1, (chance.choice(("Customer", "Order", "Account")), f"{chance.randint(1000, 99999)}"))
    body = [f"{count} x {name}   {_money(vendor.money, count * price)}" for name, count, price in lines]
    net, tax, total = sums
    end = [(vendor.net, _money(vendor.money, net))]
    if tax:
        end.append((f"{vendor.tax[0]} {vendor.tax[1]}%", _money(vendor.money, tax)))
    end.append((pick(vendor.total), _money(vendor.money, total)))
    paper = [*head, "", *place(facts), "", *body, "", *place(end), "", vendor.footer]
    return "\n".join(_scanned(line, chance) for line in paper)


def _date(form: str, year: int, month: int, day: int) -> str:
    words = {"month": _ENGLISH[month - 1], "mois": _FRENCH[month - 1], "mes": _SPANISH[month - 1]}
    return form.format(y=year, m=month, d=day, **words)


def _money(money: Money, cents: int) -> str:
    digits, rest = str(cents // 100), cents % 100
    groups = [digits[-3:]]
    digits = digits[:-3]
    step = 2 if money.indian else 3
    while digits:
        groups.insert(0, digits[-step:])
        digits = digits[:-step]
    amount = money.group.join(groups) + (f"{money.decimal}{rest:02d}" if money.decimals else "")
    return money.shown.format(amount)


Facts = list[tuple[str, str]]


def _colon(facts: Facts) -> list[str]:
    return [f"{label}: {value}" for label, value in facts]


def _below(facts: Facts) -> list[str]:
    return [line for label, value in facts for line in (label, f"  {value}")]


def _leaders(facts: Facts) -> list[str]:
    return [f"{label} {'.' * max(4, 40 - len(label) - len(value))} {value}" for label, value in facts]


def _columns(facts: Facts) -> list[str]:
    cells = [f"{label} {value}" for label, value in facts]
    return ["     ".join(cells[start : start + 2]) for start in range(0, len(cells), 2)]


_LAYOUTS: dict[str, Callable[[Facts], list[str]]] = {
    "colon": _colon,
    "below": _below,
    "leaders": _leaders,
    "columns": _columns,
}


def _scanned(line: str, chance: random.Random) -> str:
    roll = chance.random()
    if roll < 0.04:
        return line + "  "
    if roll < 0.08:
        return "  " + line
    if roll < 0.11:
        return line.replace(" ", "  ", 1)
    if roll < 0.13:
        return line + "\n"
    return line

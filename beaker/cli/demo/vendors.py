"""The vendors whose invoices the demo reads, and how each writes them."""

from typing import NamedTuple


class Money(NamedTuple):
    """How a vendor writes an amount: separators, number of decimals, and the currency around it (`{}`)."""

    group: str
    decimal: str
    shown: str
    decimals: int = 2
    indian: bool = False


class Vendor(NamedTuple):
    """One vendor's paper. Where there are two labels, the second is on older paper and rarer."""

    name: str
    letterhead: tuple[str, ...]
    number: tuple[str, ...]
    number_form: str
    date: tuple[str, ...]
    date_form: str
    due: str
    items: tuple[str, ...]
    net: str
    tax: tuple[str, int]
    total: tuple[str, ...]
    money: Money
    currency: str
    layout: str
    share: int
    footer: str


VENDORS = (
    Vendor(
        "Brightwater Supply Co.",
        ("Brightwater Supply Co.", "88 Canal Street, Portland, OR 97201"),
        ("Invoice No",),
        "BW-{:05d}",
        ("Invoice Date",),
        "{m:02d}/{d:02d}/{y}",
        "Payment due",
        ("Pump seals", "Copper pipe 15mm", "Delivery"),
        "Subtotal",
        ("Sales tax", 0),
        ("Total", "Amount due"),
        Money(",", ".", "${}"),
        "USD",
        "colon",
        12,
        "Thank you for your business",
    ),
    Vendor(
        "Harbor & Pine LLC",
        ("HARBOR & PINE", "Timber and millwork", "Harbor & Pine LLC, Bangor ME"),
        ("Invoice #", "Our ref"),
        "{:06d}",
        ("Date",),
        "{month} {d}, {y}",
        "Terms: net 30, due",
        ("White pine boards", "Planing", "Freight"),
        "Sub-total",
        ("Tax", 5),
        ("TOTAL USD",),
        Money(",", ".", "{}"),
        "USD",
        "leaders",
        10,
        "Make checks payable to Harbor & Pine LLC",
    ),
    Vendor(
        "Nordwind Logistik GmbH",
        ("NORDWIND LOGISTIK", "Nordwind Logistik GmbH · Hafenstraße 12 · 20457 Hamburg"),
        ("Rechnung Nr.", "Belegnummer"),
        "RE-{y}-{:04d}",
        ("Rechnungsdatum", "Datum"),
        "{d:02d}.{m:02d}.{y}",
        "Zahlbar bis",
        ("Palettentransport", "Mautgebühren", "Lagerung"),
        "Nettobetrag",
        ("USt.", 19),
        ("Gesamtbetrag",),
        Money(".", ",", "{} €"),
        "EUR",
        "colon",
        10,
        "USt-IdNr. DE811907980",
    ),
    Vendor(
        "Atelier Rousseau SARL",
        ("Atelier Rousseau SARL", "14 rue des Tanneurs, 69001 Lyon"),
        ("Facture n°",),
        "F{y}-{:03d}",
        ("Date de facturation",),
        "{d} {mois} {y}",
        "Échéance",
        ("Reliure cuir", "Dorure", "Port"),
        "Total HT",
        ("TVA", 20),
        ("Total TTC", "Net à payer"),
        Money("\u202f", ",", "{} EUR"),
        "EUR",
        "below",
        8,
        "SIRET 552 081 317 00045",
    ),
    Vendor(
        "Kessler Werkzeuge AG",
        ("Kessler Werkzeuge AG", "Industriestrasse 7, 8400 Winterthur"),
        ("Rechnungs-Nr.",),
        "{:05d}/{yy:02d}",
        ("Datum",),
        "{d:02d}.{m:02d}.{y}",
        "Fällig am",
        ("Spiralbohrer-Satz", "Drehmeissel", "Verpackung"),
        "Zwischensumme",
        ("MwSt", 8),
        ("Rechnungsbetrag",),
        Money("'", ".", "CHF {}"),
        "CHF",
        "columns",
        8,
        "IBAN CH93 0076 2011 6238 5295 7",
    ),
    Vendor(
        "Lindqvist & Söner AB",
        ("Lindqvist & Söner AB", "Storgatan 3, 411 24 Göteborg"),
        ("Fakturanummer",),
        "{:07d}",
        ("Fakturadatum",),
        "{y}-{m:02d}-{d:02d}",
        "Förfallodatum",
        ("Snickeriarbete", "Virke", "Resor"),
        "Netto",
        ("Moms", 25),
        ("Att betala",),
        Money(" ", ",", "{} kr"),
        "SEK",
        "colon",
        8,
        "Godkänd för F-skatt",
    ),
    Vendor(
        "Ashford Print Works Ltd",
        ("Ashford Print Works", "Ashford Print Works Ltd, 5 Mill Lane, Ashford TN23 1AA"),
        ("Invoice number", "Document"),
        "APW/{:04d}",
        ("Tax point",),
        "{d:02d}/{m:02d}/{y}",
        "Pay by",
        ("Leaflets A5 x 2000", "Artwork", "Carriage"),
        "Goods total",
        ("VAT", 20),
        ("Balance due",),
        Money(",", ".", "£{}"),
        "GBP",
        "columns",
        9,
        "Registered in England 04417721",
    ),
    Vendor(
        "Tanaka Seimitsu K.K.",
        ("タナカ精密株式会社", "Tanaka Seimitsu K.K., Ota-ku, Tokyo"),
        ("請求書番号",),
        "TS{:06d}",
        ("発行日",),
        "{y}年{m}月{d}日",
        "お支払期限",
        ("精密ねじ", "加工費", "送料"),
        "小計",
        ("消費税", 10),
        ("ご請求金額",),
        Money(",", "", "¥{}", decimals=0),
        "JPY",
        "colon",
        7,
        "登録番号 T7010801009422",
    ),
    Vendor(
        "Deccan Textiles Pvt Ltd",
        ("DECCAN TEXTILES PVT LTD", "Plot 21, MIDC, Solapur 413006"),
        ("Bill No.",),
        "DT-{yy:02d}-{:04d}",
        ("Bill Date",),
        "{d:02d}-{m:02d}-{y}",
        "Due on",
        ("Cotton bedsheets", "Terry towels", "Loading"),
        "Taxable value",
        ("IGST", 5),
        ("Grand Total",),
        Money(",", ".", "₹ {}", indian=True),
        "INR",
        "leaders",
        8,
        "GSTIN 27AAECD4512M1ZP",
    ),
    Vendor(
        "Estudio Olmedo S.L.",
        ("Estudio Olmedo", "Estudio Olmedo S.L. - Calle Mayor 8, Valladolid"),
        ("Factura núm.",),
        "{yy:02d}/{:03d}",
        ("Fecha",),
        "{d} de {mes} de {y}",
        "Vencimiento",
        ("Proyecto básico", "Visita de obra", "Copias"),
        "Base imponible",
        ("IVA", 21),
        ("Importe total",),
        Money(".", ",", "{} €"),
        "EUR",
        "below",
        8,
        "NIF B47012345",
    ),
    Vendor(
        "Prairie Grain Cooperative",
        ("Prairie Grain Cooperative", "Box 40, Swift Current SK"),
        ("Statement ref",),
        "PG{:05d}",
        ("Issued",),
        "{y}/{m:02d}/{d:02d}",
        "Please pay before",
        ("Durum wheat", "Elevator fee", "Rail freight"),
        "Before tax",
        ("GST", 5),
        ("Total payable",),
        Money(",", ".", "${}"),
        "CAD",
        "leaders",
        8,
        "GST registration 10737 4421",
    ),
    Vendor(
        "Zielona Dolina Sp. z o.o.",
        ("Zielona Dolina Sp. z o.o.", "ul. Polna 2, 31-001 Kraków"),
        ("Nr faktury",),
        "FV/{:03d}/{y}",
        ("Data wystawienia",),
        "{d:02d}.{m:02d}.{y}",
        "Termin płatności",
        ("Sadzonki", "Nawóz", "Dostawa"),
        "Wartość netto",
        ("VAT", 23),
        ("Do zapłaty",),
        Money(" ", ",", "{} zł"),
        "PLN",
        "colon",
        0,
        "NIP 676-01-12-345",
    ),
)
"""The last vendor has no share: it turns up in TEST alone, as a new supplier does."""

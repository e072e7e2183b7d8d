"""How the pages look: one style sheet, light and dark by the reader's own setting, for screens of any width."""

STYLE = """
:root{color-scheme:light dark;--bg:#fafaf9;--card:#fff;--ink:#1b1f24;--soft:#5b626c;--line:#e3e3df;--faint:#f1f1ee;
--accent:#2a5bd7;--accent-bg:#e8eefc;--base:#878c96;--good:#15704a;--good-bg:#e5f4ec;--bad:#bb2a2f;--bad-bg:#fbe9e8;
--warn:#8a5300;--warn-bg:#fdf1dc}
@media (prefers-color-scheme:dark){:root{--bg:#101214;--card:#171a1d;--ink:#eceef0;--soft:#a2a9b3;--line:#2c3137;
--faint:#1e2226;--accent:#86adff;--accent-bg:#1b2742;--base:#7f8692;--good:#56c596;--good-bg:#12301f;--bad:#ff8b88;
--bad-bg:#3b1718;--warn:#f0b45a;--warn-bg:#332409}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
overflow-wrap:anywhere}
main{max-width:1080px;margin:0 auto;padding:28px clamp(16px,4vw,40px) 72px}
h1{font-size:clamp(24px,4.2vw,34px);line-height:1.2;margin:2px 0 10px;font-weight:650;letter-spacing:-.015em}
h2{font-size:19px;margin:0 0 4px;font-weight:650}
h3{font-size:15px;margin:22px 0 8px;font-weight:650}
p{margin:6px 0}
section{margin-top:28px;background:var(--card);border:1px solid var(--line);border-radius:12px;
padding:20px clamp(14px,2.6vw,26px) 24px}
section>p.lead{color:var(--soft);margin:0 0 14px;max-width:72ch}
a{color:var(--accent)}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.88em}
.muted{color:var(--soft)}
.eyebrow{color:var(--soft);font-size:13px;margin:0}
.headline{font-size:clamp(17px,2.4vw,20px);line-height:1.45;max-width:60ch;margin:6px 0 14px}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:16px;font-size:14px}
nav a{text-decoration:none}
nav a:hover,nav a:focus-visible{text-decoration:underline}
.tag{display:inline-block;font-size:12px;line-height:1.5;font-weight:600;padding:0 8px;border-radius:9px;
background:var(--faint);
color:var(--soft)}
.tag.good,.tag.created{background:var(--good-bg);color:var(--good)}
.tag.bad,.tag.deleted{background:var(--bad-bg);color:var(--bad)}
.tag.warn{background:var(--warn-bg);color:var(--warn)}
.tag.win{background:var(--accent-bg);color:var(--accent)}
.good{color:var(--good)}.bad{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:14px 0}
.tile{background:var(--faint);border-radius:10px;padding:12px 14px;min-width:0}
.tile b{display:block;font-size:clamp(21px,2.6vw,26px);line-height:1.25;font-weight:650;
font-variant-numeric:tabular-nums}
.tile span{display:block;font-size:13px;color:var(--soft)}
.tile.win b{color:var(--accent)}
.tile.good b{color:var(--good)}.tile.bad b{color:var(--bad)}
svg{display:block;overflow:visible;width:100%}
svg text{font-size:12px;fill:var(--soft);font-family:inherit;font-variant-numeric:tabular-nums}
svg .end{text-anchor:end}svg .middle{text-anchor:middle}
svg .grid{stroke:var(--line);stroke-width:1}
svg text.name{fill:var(--ink);font-size:13px;font-weight:600;paint-order:stroke;stroke:var(--card);stroke-width:4px;
stroke-linejoin:round}
.plot{padding:14px 14px 4px 44px}
.plot svg{margin-bottom:30px}
.plot .axis{margin:0;text-align:center;font-size:13px;color:var(--soft)}
.dot{fill:var(--card);stroke:var(--base);stroke-width:2}
.dot.base{fill:var(--base)}
.dot.best{fill:var(--accent);stroke:var(--accent)}
svg .best:not(circle){stroke:var(--accent);stroke-width:2;stroke-linecap:round}
svg .rejected{stroke:var(--base);stroke-width:2}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0 0;padding:0;font-size:13px;
color:var(--soft)}
.legend i{display:inline-block;width:11px;height:11px;border-radius:6px;border:2px solid var(--base);margin-right:6px;
vertical-align:-1px}
.legend i.base{background:var(--base)}.legend i.best{background:var(--accent);border-color:var(--accent)}
.legend i.path{border:0;border-radius:2px;height:3px;width:16px;background:var(--accent);vertical-align:4px}
.legend i.rejected{border:0;border-radius:0;width:2px;background:var(--base)}
.interval{max-width:560px;margin:6px 12px 2px;width:calc(100% - 24px)}
.interval .zero{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:3 3}
.interval .reach{stroke:var(--accent);stroke-width:8;stroke-opacity:.35;stroke-linecap:round}
.interval .center{fill:var(--accent)}
.bar{display:inline-block;width:64px;height:8px;border-radius:4px;background:var(--line);overflow:hidden;
vertical-align:1px}
.bar i{display:block;height:100%;background:var(--base)}
.bar.win i{background:var(--accent)}.bar.bad i{background:var(--bad)}
.stack{display:flex;height:12px;border-radius:6px;overflow:hidden;gap:2px;margin:10px 0 6px}
.stack i{flex-basis:3px}
.part.worse,.swatch.worse{background:var(--bad)}.part.better,.swatch.better{background:var(--good)}
.part.open,.swatch.open{background:var(--base)}.part.solved,.swatch.solved{background:var(--line)}
.swatch{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:7px}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:7px 14px 7px 0;border-top:1px solid var(--line);vertical-align:top;min-width:0}
th{font-size:13px;font-weight:600;color:var(--soft);border-top:0}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
td.head{min-width:13ch}
th{overflow-wrap:normal}
td.figure{width:34%;padding-top:11px}
.pair .before{fill:var(--base)}.pair .after{fill:var(--accent)}
.pair{margin:0 6px;width:calc(100% - 12px);min-width:70px}
.pair .way{stroke:var(--base);stroke-width:3}
.pair .way.good{stroke:var(--good)}.pair .way.bad{stroke:var(--bad)}
.remarks{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:3px 6px}
.remarks li{font-size:13px;background:var(--faint);border-radius:6px;padding:0 7px;max-width:100%}
.remarks li.good{background:var(--good-bg)}.remarks li.bad{background:var(--bad-bg)}
details{margin:8px 0}
summary{cursor:pointer;padding:4px 0;border-radius:6px}
summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
details.group>summary{font-weight:600;font-size:14px}
details.group>summary .muted{font-weight:400}
.tree{list-style:none;margin:12px 0 0;padding:0;font-size:14px}
.tree li{display:grid;grid-template-columns:auto 126px 196px minmax(0,1fr);gap:0 14px;align-items:center;
min-height:32px}
.tree .gutter{align-self:stretch;position:relative}
.gutter svg{position:absolute;inset:0;height:100%}
.gutter line{stroke:var(--line);stroke-width:1.5}
.gutter circle{fill:var(--card);stroke:var(--base);stroke-width:1.5}
.tree .line .elbow,.tree .line .stem{stroke:var(--accent)}
.tree .line circle{fill:var(--accent);stroke:var(--accent)}
.tree .figures{white-space:nowrap}
.tree .figures{display:flex;gap:8px;align-items:center;font-variant-numeric:tabular-nums}
.tree .label{font-weight:600;margin-right:8px}
.tree .faint{color:var(--soft)}
.tree .changes{font-size:13px;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
.file{border:1px solid var(--line);border-radius:8px;overflow:hidden;margin:10px 0}
.file>summary{padding:8px 12px;background:var(--faint);display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline}
.file>summary::before{content:"▸";color:var(--soft)}.file[open]>summary::before{content:"▾"}
.file .path{font-weight:600;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;
flex:1 1 200px}
.plus{color:var(--good);font-size:13px}.minus{color:var(--bad);font-size:13px}
.file pre{margin:0;padding:8px 0;white-space:pre-wrap;line-height:1.5}
.file pre span{display:block;padding:0 12px}
.file p{padding:0 12px 6px}
.add{background:var(--good-bg)}.del{background:var(--bad-bg)}.hunk{color:var(--soft)}
pre.plain{white-space:pre-wrap;background:var(--faint);border-radius:8px;padding:10px 12px;margin:8px 0}
.notice{border-radius:8px;padding:8px 12px;margin:10px 0;background:var(--warn-bg);white-space:pre-wrap}
.notice.bad{background:var(--bad-bg);color:var(--ink)}
footer{margin-top:32px;color:var(--soft);font-size:13px}
@media (max-width:700px){
body{font-size:15px}
.tree li{grid-template-columns:auto minmax(0,1fr);padding:5px 0}
.tree .gutter{max-width:26vw;grid-row:1/4;margin:-5px 0}
.tree .figures,.tree .changes{grid-column:2}
table.cards,table.cards tbody,table.cards tr{display:block}
table.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.cards tr{border-top:1px solid var(--line);padding:10px 0}
table.cards td{border:0;padding:1px 0;display:flex;gap:10px;justify-content:space-between;text-align:left;width:auto;
white-space:normal}
table.cards td::before{content:attr(data-name);color:var(--soft);font-size:13px;flex:none}
table.cards td.head{font-weight:600}table.cards td.head::before,table.cards td.wide::before{content:none}
table.cards td.wide{display:block;padding-top:4px}
table.cards td.num{display:inline-flex;gap:4px;margin-right:9px;white-space:nowrap;font-size:13.5px}
table.cards td.num::before{font-size:12.5px}
table.cards td.figure{display:block;padding:5px 0}table.cards td.figure::before{content:none}
table.cards td:empty{display:none}
}
@media print{body{background:#fff}section{break-inside:avoid-page;border:0;padding:0}nav{display:none}}
""".strip()
"""CSS of every page. It names no font, image or sheet that would have to be fetched."""

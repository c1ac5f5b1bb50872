/** How the page looks: on a screen in either light, and printed on A4 across. No script, no font, nothing from elsewhere. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2329; --quiet: #5c6670; --line: #d8dde2; --band: #f5f7f8;
  --level: #33566f; --more: #2f7d5b; --less: #b3513c; --warn: #8a5a00; --warn-band: #fdf4e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15191d; --ink: #e4e8eb; --quiet: #9aa5ae; --line: #323a42; --band: #1d2329;
    --level: #7fa6c2; --more: #63b88f; --less: #e08a74; --warn: #e6bd6a; --warn-band: #2b2514;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 2rem 4rem; max-width: 78rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
header { border-bottom: 2px solid var(--ink); padding-bottom: 1.25rem; margin-bottom: 1.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; font-weight: 650; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .5rem; font-weight: 650; }
h3 { font-size: 1.02rem; margin: 1.75rem 0 .4rem; font-weight: 650; }
p { margin: .4rem 0; max-width: 62rem; }
.lead { color: var(--quiet); margin: 0; }
.note { color: var(--quiet); font-size: .9rem; }
.warn { background: var(--warn-band); border-left: 4px solid var(--warn); padding: .55rem .8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem; margin: .75rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; padding: 0; margin: 1rem 0 0; font-size: .92rem; }
a { color: var(--level); text-underline-offset: .18em; }
.scroll { overflow-x: auto; margin: .5rem 0 1rem; }
.scroll:focus-visible { outline: 2px solid var(--level); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; color: var(--quiet); padding: 0 0 .4rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .36rem .7rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: .3rem; }
thead th { border-bottom: 1.5px solid var(--quiet); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 500; }
.wide { min-width: 14rem; }
.narrow table { width: auto; min-width: 30rem; }
tbody tr:nth-child(even) { background: var(--band); }
tfoot th, tfoot td { border-top: 1.5px solid var(--ink); border-bottom: 0; font-weight: 650; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.zero { color: var(--quiet); }
.strong { font-weight: 650; }
.nowrap { white-space: nowrap; }
.cite { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .86em; white-space: nowrap; }
.code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .86em; overflow-wrap: anywhere; }
figure { margin: .75rem 0 1rem; overflow-x: auto; }
figure svg { display: block; max-width: 100%; height: auto; }
figcaption { color: var(--quiet); font-size: .9rem; }
@page { size: A4 landscape; margin: 14mm 12mm; }
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --ink: #000000; --quiet: #454c53; --line: #c3c9ce; --band: #f5f7f8;
    --level: #33566f; --more: #2f7d5b; --less: #b3513c; --warn: #6b4600; --warn-band: #fdf4e0;
  }
  body { padding: 0; max-width: none; font-size: 10pt; }
  nav { display: none; }
  .scroll, figure { overflow: visible; }
  figure svg { max-width: 190mm; }
  .wide { min-width: 0; }
  h2, h3, caption { break-after: avoid; }
  tr, figure, .warn, dl { break-inside: avoid; }
  thead { display: table-header-group; }
  tfoot { display: table-row-group; }
  table { font-size: 8.5pt; }
  th, td { padding: .22rem .45rem; }
  a { color: inherit; text-decoration: none; }
}
`.trim();

/** How the pages look: as a statement does, and what a screen adds. No script, no font, nothing from elsewhere. */
import { style as ofStatements } from '../report/statement/style.ts';

export const style = `${ofStatements}
:root { --heat-1: #e6eef4; --heat-2: #c3d8e6; --heat-3: #94b9d1; --heat-4: #33566f; --heat-ink: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --heat-1: #1f2c36; --heat-2: #2a4152; --heat-3: #38596f; --heat-4: #a9c9de; --heat-ink: #10161b; }
}
body { padding-top: 1.25rem; }
header { border-bottom-width: 1px; border-bottom-color: var(--line); padding-bottom: 1rem; }
h1 { overflow-wrap: anywhere; }
h2 { overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .4rem .7rem; z-index: 1; }
.top { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .75rem 1.5rem; margin-bottom: 1.5rem; }
.brand { font-weight: 650; color: var(--ink); text-decoration: none; font-size: 1.05rem; letter-spacing: .01em; }
.brand::before { content: ""; display: inline-block; width: .7em; height: .7em; margin-right: .5em; border-radius: 2px; background: var(--level); }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--level); outline-offset: 2px; }
main:focus { outline: none; }
nav a[aria-current] { color: var(--ink); font-weight: 650; text-decoration: none; border-bottom: 2px solid var(--level); padding-bottom: .15rem; }
.box { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; font-size: .92rem; }
.box label { color: var(--quiet); }
input, select, button { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--quiet); border-radius: 4px; padding: .3rem .55rem; max-width: 100%; }
.box input { width: 9.5rem; min-width: 0; }
::placeholder { color: var(--quiet); opacity: 1; }
button { background: var(--band); cursor: pointer; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12rem), 1fr)); gap: .9rem 1.25rem; align-items: end; margin: 1rem 0 1.5rem; max-width: 60rem; }
.fields label { display: grid; gap: .25rem; color: var(--quiet); font-size: .92rem; }
.fields input, .fields select { width: 100%; height: 2.3rem; }
.fields button { height: 2.3rem; padding-inline: 1rem; }
.fields button { justify-self: start; }
.aside { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 12.5rem), 1fr)); gap: 1px; margin: .75rem 0; padding: 1px; }
.tiles div { box-shadow: 0 0 0 1px var(--line); padding: .7rem .9rem .8rem; min-width: 0; }
.tiles .nowrap { white-space: normal; }
.tiles dt { font-size: .86rem; }
.tiles dd { font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.35; }
.tiles dd.more { font-size: .86rem; font-weight: 400; color: var(--quiet); }
.state { font-size: .86rem; font-weight: 500; border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .65rem; margin-left: .5rem; white-space: nowrap; color: var(--quiet); }
.state.asks { color: var(--warn); border-color: var(--warn); }
.state.fails { color: var(--less); border-color: var(--less); }
.warnings { list-style: none; padding: 0; margin: .75rem 0; display: grid; gap: .4rem; }
.warnings li { background: var(--warn-band); border-left: 4px solid var(--warn); padding: .5rem .8rem; overflow-wrap: anywhere; }
.sql { margin: .1rem 0 1.25rem; font-size: .9rem; }
.sql summary { color: var(--level); cursor: pointer; width: max-content; position: relative; }
.sql pre { max-height: 24rem; overflow: auto; background: var(--band); border: 1px solid var(--line); border-radius: 4px; padding: .7rem .9rem; margin: .3rem 0 .8rem; overflow-wrap: normal; line-height: 1.45; }
.sql code { font: inherit; }
.figure > .scroll { margin-bottom: .25rem; }
.figure th, .figure td { padding-inline: .55rem; }
.figure tbody th { white-space: nowrap; }
.figure thead .number { white-space: normal; min-width: 4.5rem; }
.figure .wide { min-width: 11rem; }
.figure td data { white-space: nowrap; }
.scroll { position: relative; }
.steps ul { margin: .25rem 0 1rem; }
.heat { table-layout: fixed; min-width: 20.5rem; max-width: 44rem; border-collapse: separate; border-spacing: 3px; }
.figure .heat th, .figure .heat td { border: 0; padding: 0; }
.heat thead th { text-align: center; color: var(--quiet); font-weight: 500; }
.heat tbody th { font-weight: 400; color: var(--quiet); font-size: .82rem; vertical-align: middle; width: 3rem; }
.heat thead th:first-child { width: 3rem; }
.heat td { height: 3.5rem; border-radius: 4px; vertical-align: top; position: relative; }
.heat tbody tr:nth-child(even) { background: none; }
.heat .day { display: block; height: 100%; padding: .25rem .4rem; color: inherit; text-decoration: none; border-radius: 4px; border: 1px solid var(--line); line-height: 1.3; }
.heat a.day:hover { border-color: var(--ink); }
.heat .date { display: block; font-size: .78rem; color: var(--quiet); }
.heat .of { font-size: .78rem; font-weight: 400; }
.heat .got { font-weight: 650; font-variant-numeric: tabular-nums; white-space: nowrap; }
.heat .h1 { background: var(--heat-1); } .heat .h2 { background: var(--heat-2); } .heat .h3 { background: var(--heat-3); }
.heat .h1 .date, .heat .h2 .date, .heat .h3 .date { color: inherit; }
.heat .h4, .heat .h4 .date { background: var(--heat-4); color: var(--heat-ink); }
.heat .chosen { outline: 2px solid var(--ink); outline-offset: 1px; }
.timeline { list-style: none; margin: 1rem 0 .75rem; padding: 0 0 0 1.4rem; border-left: 2px solid var(--line); max-width: 62rem; }
.timeline li { position: relative; margin: 0 0 1.2rem; overflow-wrap: anywhere; }
.timeline li::before { content: ""; position: absolute; left: calc(-1.4rem - 1px); top: .55em; width: .6rem; height: .6rem; border-radius: 50%; background: var(--quiet); border: 2px solid var(--paper); transform: translateX(-50%); box-sizing: content-box; }
.timeline .shipped::before, .timeline .version::before { background: var(--level); width: .8rem; height: .8rem; }
.timeline .event::before { background: var(--paper); border-color: var(--less); width: .45rem; height: .45rem; }
.timeline .when { color: var(--quiet); font-size: .86rem; display: block; }
.timeline .what { font-weight: 650; margin: 0; }
.timeline .values { margin: .3rem 0 0; grid-template-columns: max-content 1fr; gap: .1rem 1.25rem; font-variant-numeric: tabular-nums; }
.timeline p { margin: .1rem 0; }
.bar { display: block; fill: var(--level); }
.fault { font-size: 1.05rem; }
.detail { white-space: pre-line; overflow-wrap: anywhere; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem; }
@media (max-width: 40rem) {
  body { padding: 1rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dt { margin-top: .4rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 1px; }
  .tiles dt { margin: 0; }
  .timeline .values dt { margin: 0; }
  .narrow table { min-width: 0; }
  .heat { border-spacing: 2px; }
  .heat td { height: 3.9rem; }
  .heat tbody th { font-size: .7rem; }
  .heat .day { padding: .15rem .2rem; }
  .heat tbody th, .heat thead th:first-child { width: 2.2rem; }
  .heat .of { font-size: .7rem; display: block; }
  caption { max-width: calc(100vw - 2rem); }
  .top { flex-direction: column; align-items: stretch; }
  .box { flex-wrap: nowrap; }
  .box input { flex: 1 1 auto; }
}
@media print { .top, .steps, .sql { display: none; } }
`;

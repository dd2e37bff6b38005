import { hash } from 'node:crypto';
import { html } from '../parts/html.ts';

export const docsStyle = html`
:root { color-scheme: light dark; --line: light-dark(#d0d4da, #3a4048); --soft: light-dark(#f4f5f7, #1d2127);
  --text: light-dark(#1b1f24, #e3e6ea); --back: light-dark(#fff, #14171b); --link: light-dark(#0b57b0, #7db7ff);
  --quiet: light-dark(#57606a, #a3abb5); }
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 1rem/1.55 system-ui, sans-serif;
  display: grid; grid-template: auto 1fr / minmax(16rem, 22rem) minmax(0, 1fr); }
header { grid-column: 1 / -1; padding: 0 1.5rem; border-bottom: 1px solid var(--line); }
nav { padding: 1rem 1.5rem; border-right: 1px solid var(--line); position: sticky; top: 0; align-self: start;
  max-height: 100vh; overflow: auto; }
nav ul { list-style: none; margin: 0; padding: 0; } nav ul ul { padding-left: 1rem; }
nav li { padding: .2rem 0; overflow-wrap: anywhere; } summary { cursor: pointer; }
main { padding: 1rem 2rem 4rem; max-width: 70rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); } h3 { margin-top: 2rem; overflow-wrap: anywhere; }
h2, h3 { scroll-margin-top: 1rem; }
a { color: var(--link); } .access, em { color: var(--quiet); } em { font-weight: normal; font-size: .875rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; }
.method { padding: .15rem .4rem; border: 1px solid var(--line); border-radius: .3rem; background: var(--soft); }
pre { padding: .8rem 1rem; overflow: auto; background: var(--soft); border: 1px solid var(--line); border-radius: .3rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
tbody th { font-weight: normal; }
.skip { position: absolute; left: -100vw; } .skip:focus { left: 1rem; top: 1rem; background: var(--back); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
@media (max-width: 50rem) { body { display: block; }
  nav { position: static; max-height: none; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav, .skip { display: none; } body { display: block; } }
`;

/** No scripts, frames, forms or external resources: only the style above. */
export const docsPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', docsStyle.text, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

import { hash } from 'node:crypto';
import { logStyle } from '../log/log_style.ts';

/** The only stylesheet: light and dark, without external resources. */
export const style = `
@layer base, layout, parts;

@layer base {
  :root { color-scheme: light dark;
    --text: light-dark(#1b1f24, #e3e6ea); --back: light-dark(#fff, #14171b); --soft: light-dark(#f4f5f7, #1d2127);
    --line: light-dark(#d0d4da, #3a4048); --edge: light-dark(#767d86, #7f8791);
    --quiet: light-dark(#57606a, #a3abb5); --link: light-dark(#0b57b0, #7db7ff);
    --strong: light-dark(#0b57b0, #2b6fc4); --on-strong: #fff;
    --bad: light-dark(#b3261e, #ff9a92); --bad-back: light-dark(#fdeceb, #3a1d1b);
    --good: light-dark(#1a6b34, #7bd799); --good-back: light-dark(#e8f6ec, #16301f); --round: .35rem; }
  * { box-sizing: border-box; }
  body { margin: 0; min-height: 100vh; color: var(--text); background: var(--back); overflow-wrap: anywhere;
    font: 1rem/1.55 system-ui, sans-serif; display: grid; grid-template-rows: auto 1fr auto; }
  h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; } h2 { font-size: 1.25rem; margin: 2rem 0 .75rem; }
  h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; } p, ul, ol, dl { margin: 0 0 1rem; }
  a { color: var(--link); } code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
  pre { overflow: auto; padding: .8rem 1rem; background: var(--soft); border: 1px solid var(--line);
    border-radius: var(--round); }
  hr { border: 0; border-top: 1px solid var(--line); margin: 2rem 0; }
  :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; border-bottom: 1px solid var(--line); }
  tbody th { font-weight: normal; }
  dt { font-weight: 600; } dd { margin: 0 0 .5rem; }
  @media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
}

@layer layout {
  .skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--back); z-index: 1;
    &:focus { left: .5rem; top: .5rem; } }
  .top { border-bottom: 1px solid var(--line); background: var(--soft); padding: .4rem 1.5rem;
    display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center;
    & .brand { font-weight: 700; color: inherit; text-decoration: none; margin-right: auto; }
    & ul { list-style: none; display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; margin: 0;
      padding: 0; }
    & form { margin: 0; } & a, & button { display: inline-block; padding: .35rem 0; } }
  main { padding: 2rem 1.5rem 4rem; width: 100%; max-width: 64rem; margin: 0 auto; }
  main.narrow { max-width: 30rem; }
  .foot { padding: 1rem 1.5rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: .9rem; }
  .sides { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2.5rem;
    & > nav ul { list-style: none; margin: 0; padding: 0; }
    & > nav a { display: block; padding: .35rem .75rem; border-radius: var(--round); text-decoration: none;
      color: inherit;
      &:hover { background: var(--soft); } &[aria-current] { background: var(--soft); font-weight: 600; } }
    & > nav ul ul { margin: .15rem 0 .35rem .75rem; border-left: 2px solid var(--line); font-size: .95rem;
      & a { padding: .2rem .75rem; } }
    & form { max-width: 34rem; } }
  :root:has(.settings) { scroll-padding: 1rem 0 6rem; }
  .wide { overflow-x: auto; & th, & td { overflow-wrap: break-word; } & code { overflow-wrap: anywhere; }
    & button, & th > code:not(.quiet) { white-space: nowrap; } & ul.plain { min-width: 14rem; overflow-wrap: anywhere; }
    & td.details { min-width: 12rem; overflow-wrap: anywhere; }
    & time { display: inline-block; min-width: 6rem; } }
  @media (min-width: 48.01rem) { .sides > nav { position: sticky; top: 1rem; align-self: start; } }
  @media (max-width: 48rem) { .sides { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
    .sides > nav ul { display: flex; flex-wrap: wrap; gap: .15rem; } .sides > nav li:has(ul) { flex-basis: 100%; }
    .sides > nav a { padding: .35rem .6rem; } }
}

@layer parts {
  .quiet, .hint { color: var(--quiet); } .hint { font-size: .9rem; margin: 0 0 .25rem; }
  .lines { white-space: pre-line; }
  .field { margin: 0 0 1.1rem; & label { font-weight: 600; display: block; } }
  .field.check { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; align-items: start;
    & > p { grid-column: 2; } & label { font-weight: normal; } }
  fieldset { border: 1px solid var(--line); border-radius: var(--round); margin: 0 0 1.25rem; padding: .75rem 1rem 0; }
  legend { font-weight: 600; padding: 0 .35rem; }
  input, select, textarea, button { font: inherit; color: inherit; }
  input:not([type=checkbox], [type=radio]), select, textarea { width: 100%; padding: .45rem .6rem;
    background: var(--back); border: 1px solid var(--edge); border-radius: var(--round);
    &[aria-invalid] { border-color: var(--bad); border-width: 2px; } }
  input[type=checkbox], input[type=radio] { width: 1.25rem; height: 1.25rem; margin: .2rem 0 0;
    accent-color: var(--strong); }
  .error { color: var(--bad); margin: .25rem 0 0; font-weight: 600; }
  button, .button { display: inline-block; padding: .45rem 1.1rem; min-height: 2.4rem; border-radius: var(--round);
    border: 1px solid transparent; background: var(--strong); color: var(--on-strong); cursor: pointer;
    text-decoration: none; font-weight: 600;
    &:hover { filter: brightness(1.12); }
    &.danger { background: var(--back); color: var(--bad); border-color: var(--bad); }
    &.plain { background: none; color: var(--link); border: 0; padding: 0; min-height: 1.5rem; font-weight: normal;
      text-decoration: underline; } }
  .buttons { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 1.25rem 0 1rem; }
  td form, td .buttons { margin: 0; }
  .flash { padding: .7rem 1rem; border: 1px solid; border-radius: var(--round); margin: 0 0 1.25rem; }
  .notice { color: var(--good); background: var(--good-back); } .alert { color: var(--bad); background: var(--bad-back); }
  .badge { display: inline-block; padding: 0 .5rem; border: 1px solid var(--line); border-radius: 1rem;
    font-size: .85rem; background: var(--soft); color: var(--text); }
  .qr { width: 14rem; height: 14rem; }
  .secret { display: block; user-select: all; padding: .6rem .8rem; background: var(--soft);
    border: 1px dashed var(--edge); border-radius: var(--round); }
  .facts { color: var(--quiet); font-size: .85rem; margin: .4rem 0 0; }
  .setting { padding: 1rem 0; border-bottom: 1px solid var(--line); & .field, & fieldset { margin: 0; }
    & fieldset { border: 0; padding: 0; } & legend { padding: 0; } & > .check > label { font-weight: 600; } }
  .settings h2 { margin: 2rem 0 0; }
  .problems { color: var(--bad); & a { color: inherit; } }
  .settings > form > .buttons { position: sticky; bottom: 0; margin: 0; padding: .9rem 0; background: var(--back); }
  .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem;
    & > div { padding: .6rem .9rem; border: 1px solid var(--line); border-radius: var(--round); }
    & dt { color: var(--quiet); font-weight: normal; font-size: .9rem; } & dd { margin: 0; font-weight: 600; }
    & .quiet { font-weight: normal; } }
  .filter { display: flex; flex-wrap: wrap; align-items: end; gap: 0 .75rem;
    & .field { flex: 1 1 12rem; margin: 0 0 1rem; } & .buttons { margin: 0 0 1rem; } }
  .tabs { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; padding: 0; border-bottom: 1px solid var(--line);
    & a { display: block; padding: .35rem 0; text-decoration: none;
      &[aria-current] { border-bottom: 2px solid var(--strong); color: inherit; font-weight: 600; } } }
  ul.plain { list-style: none; padding: 0; margin: 0; }
  .is-success { color: var(--good); } .is-failed { color: var(--bad); } .is-running, .is-pending { color: var(--link); }
  .buttons form, td form { margin: 0; & .buttons { margin: 0; } } td form { display: inline-block; margin-right: .5rem; }
  .list { list-style: none; padding: 0; & > li { padding: .6rem 0; border-bottom: 1px solid var(--line); } }${logStyle}}

@media print { .top, .foot, .skip, nav, form { display: none; } }
`;

export const stylePath = `/-/assets/style-${hash('sha256', style).slice(0, 12)}.css`;

/** A gantry: two legs, a beam, and a load that hangs from it. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57b0"/><path d="M3 13V4h10v9M8 4v4M6 8h4v3H6z" fill="none" stroke="#fff" stroke-width="1.6"/></svg>
`;

export const iconPath = `/-/assets/icon-${hash('sha256', icon).slice(0, 12)}.svg`;

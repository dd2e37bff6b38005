/** Style of logs: always light on dark, so that all colours of a job are readable. */
export const logStyle = `
  .log { background: #14171b; color: #e3e6ea; border-radius: var(--round); padding: .75rem 0; margin: 0 0 1rem;
    font: .85rem/1.5rem ui-monospace, monospace; contain: content;
    & .line { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr) auto; gap: 0 1rem; padding-right: 1rem;
      & > span { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; tab-size: 8; }
      & > a, & > b { color: #a3abb5; text-align: right; text-decoration: none; font-weight: normal; user-select: none; }
      & > a:hover { text-decoration: underline; }
      &:target { background: #3d3105; } &:hover { background: #22272e; } }
    & summary { cursor: pointer; & > b::before { content: "▸ "; } & > time { color: #e3e6ea; } }
    & details[open] > summary > b::before { content: "▾ "; } & :focus-visible { outline-color: #7db7ff; outline-offset: -3px; }
    & .bold { font-weight: 700; } & .italic { font-style: italic; }
    & .underlined { text-decoration: underline; } & .struck { text-decoration: line-through; }
    & .f0, & .f8 { color: #a3abb5; } & .f1, & .f9 { color: #ff9a92; } & .f2, & .f10 { color: #7bd799; }
    & .f3, & .f11 { color: #e8c860; } & .f4, & .f12 { color: #8fbcff; } & .f5, & .f13 { color: #f0a8f0; }
    & .f6, & .f14 { color: #70d8e0; } & .f7, & .f15 { color: #fff; }
    & .b0 { background: #000; } & .b1 { background: #4a1512; } & .b2 { background: #12391f; } & .b3 { background: #3d3105; }
    & .b4 { background: #14285c; } & .b5 { background: #43184a; } & .b6 { background: #0f3a40; } & .b7 { background: #30353c; }
    & .faint { color: #a3abb5; } & .inverse { color: #14171b; background: #e3e6ea; } }
`;

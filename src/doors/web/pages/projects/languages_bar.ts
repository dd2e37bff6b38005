import type { LanguageShare } from '../../../../code/repository/languages/load_languages.ts';
import { type Html, html } from '../../parts/html.ts';

/** Languages with a name; the others are summed up. */
const maxNamed = 6;
const otherName = 'Other';

const formatPercent = (percent: number): string => `${percent.toFixed(1)} %`;

const sumOthers = (shares: readonly LanguageShare[]): { name: string; percent: number }[] => {
  const others = shares.slice(maxNamed);
  if (others.length === 0) return [];
  return [{ name: otherName, percent: others.reduce((sum, { percent }) => sum + percent, 0) }];
};

/** Renders the languages of a project as a bar with a legend; null: none is known. */
export const languagesBar = (shares: readonly LanguageShare[]): Html | null => {
  if (shares.length === 0) return null;
  const shown = [...shares.slice(0, maxNamed), ...sumOthers(shares)];
  let start = 0;
  const parts = shown.map(({ percent }, at) => {
    const part = html`<rect class="language-${at}" x="${start.toFixed(2)}" y="0" width="${percent.toFixed(2)}" height="1"/>`;
    start += percent;
    return part;
  });
  const legend = shown.map(
    ({ name, percent }, at) =>
      html`<li><svg class="dot language-${at}" viewBox="0 0 8 8" aria-hidden="true"><circle cx="4" cy="4" r="4"/></svg> ${name} <span class="muted">${formatPercent(percent)}</span></li>`,
  );
  return html`<section><h2>Languages</h2><svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>
<ul class="languages">${legend}</ul></section>
`;
};

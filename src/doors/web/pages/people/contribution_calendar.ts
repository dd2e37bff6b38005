/** The calendar of what a user did in the last year, drawn on the server, and the same numbers as a table. */
import { dayMilliseconds, shortMonthNames } from '../../../../platform/time.ts';
import { type DayCount, countContributions } from '../../../events/contributions.ts';
import { type Html, html } from '../../parts/html.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import type { Visit } from '../../page.ts';

/** Weeks before the current one. */
const weeks = 52;
/** Distance of two days in the picture, and the side of their squares. */
const step = 13;
const side = 11;
/** Room for the names of months above, and of weekdays at the left. */
const [top, left] = [16, 28];

/** Minimum contributions of each shade. */
const shades = [1, 10, 20, 30];

const toDate = (day: number): string => new Date(day * dayMilliseconds).toISOString().slice(0, 10);

/** The first day of the picture: a Monday. 1 January 1970 was a Thursday. */
const firstDayOf = (today: number): number => today - ((today + 3) % 7) - 7 * weeks;

type ContributionDays = { days: ReadonlyMap<number, number>; first: number; today: number };

const squareAt = (at: number): { x: number; y: number } => ({
  x: left + Math.floor(at / 7) * step,
  y: top + (at % 7) * step,
});

/** Draws days without contributions as one path. */
const emptyDays = ({ days, first, today }: ContributionDays): string => {
  const squares: string[] = [];
  for (let day = first; day <= today; day += 1) {
    const { x, y } = squareAt(day - first);
    if (!days.has(day)) squares.push(`M${x} ${y}h${side}v${side}h-${side}z`);
  }
  return squares.join('');
};

const fullDays = ({ days, first }: ContributionDays): Html[] =>
  [...days].map(([day, total]) => {
    const { x, y } = squareAt(day - first);
    const shade = shades.filter((least) => total >= least).length;
    return html`<rect class="shade-${shade}" x="${x}" y="${y}" width="${side}" height="${side}" rx="2"><title>${toDate(day)}: ${spellCount(total, 'contribution')}</title></rect>`;
  });

/** Names each month above the week of its first day. */
const monthNames = ({ first }: ContributionDays): Html[] =>
  Array.from({ length: weeks }, (_week, at) => first + at * 7).flatMap((monday, at) => {
    const date = new Date((monday + 6) * dayMilliseconds);
    return date.getUTCDate() > 7
      ? []
      : [html`<text x="${left + at * step}" y="10">${shortMonthNames[date.getUTCMonth()] ?? ''}</text>`];
  });

const weekdays = ['Mon', '', 'Wed', '', 'Fri', '', ''];

const weekdayNames = (): Html[] =>
  weekdays.flatMap((name, at) =>
    name === '' ? [] : [html`<text x="0" y="${top + at * step + 9}">${name}</text>`],
  );

const picture = (contributions: ContributionDays, said: string): Html =>
  html`<div class="wide calendar" tabindex="0" role="region" aria-label="Calendar of contributions"><svg viewBox="0 0 ${left + (weeks + 1) * step} ${top + 7 * step}" width="${left + (weeks + 1) * step}" height="${top + 7 * step}" role="img" aria-label="${said}">${monthNames(contributions)}${weekdayNames()}<path class="shade-0" d="${emptyDays(contributions)}"/>${fullDays(contributions)}</svg></div>`;

const table = ({ days }: ContributionDays, path: string): Html =>
  html`<details><summary>Contributions as a table</summary><div class="wide" tabindex="0" role="region" aria-label="Contributions by day"><table>
<thead><tr><th scope="col">Day</th><th scope="col">Contributions</th></tr></thead>
<tbody>${[...days].toReversed().map(([day, total]) => {
    const date = toDate(day);
    return html`<tr><th scope="row"><a href="${path}?tab=activity&amp;day=${date}"><time datetime="${date}">${date}</time></a></th><td>${total}</td></tr>
`;
  })}</tbody>
</table></div></details>`;

const render = (contributions: ContributionDays, path: string): Html => {
  const total = [...contributions.days.values()].reduce((sum, one) => sum + one, 0);
  const said = `${spellCount(total, 'contribution')} in the last year`;
  return html`<section class="card" aria-labelledby="contributions"><header><h2 id="contributions">${said}</h2></header>
<div class="body">${picture(contributions, `${said}, on ${spellCount(contributions.days.size, 'day')}`)}${contributions.days.size > 0 && table(contributions, path)}</div></section>
`;
};

/** Loads and renders the calendar. @param path of the profile */
export const contributionCalendar = async ({ call }: Visit, userId: number, path: string): Promise<Html> => {
  const today = Math.floor(call.now / dayMilliseconds);
  const first = firstDayOf(today);
  const counted: DayCount[] = await countContributions(call, userId, first);
  const days = new Map(counted.filter(({ day }) => day <= today).map(({ day, total }) => [day, total]));
  return render({ days, first, today }, path);
};

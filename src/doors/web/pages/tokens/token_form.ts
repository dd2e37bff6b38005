/** Parts of pages of tokens: the choice of an expiry, and the lists by state. */
import { today } from '../../../../core/access/viewer.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, date, oneOf, optional, text, texts } from '../../../../platform/http/schema.ts';
import { checkboxes, input, select } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { fieldText, readList } from '../../parts/fields/field_text.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { dayMilliseconds } from '../../../../platform/time.ts';

const lives = ['7', '30', '90', '365', 'none'] as const;

/** Parameters of the choice of an expiry. */
const expiryParams = {
  life: { ...oneOf(lives), default: '30' as const },
  expires_at: optional(clearable(date())),
};

export type ChosenExpiry = { life: (typeof lives)[number]; expires_at?: string | null };

/** Parameters of the form of a new token that all kinds of tokens have. */
export const newTokenParams = {
  name: text(),
  scopes: { ...texts(), default: [] as string[] },
  ...expiryParams,
};

export type FilledToken = ChosenExpiry & { name: string; scopes: string[] };

/** Returns the input of an invalid form, to show it again. */
export const fromSent = ({ name, scopes, life, expires_at }: RawParams): FilledToken => ({
  name: fieldText(name),
  scopes: readList(scopes),
  life: lives.find((one) => one === life) ?? '30',
  expires_at: fieldText(expires_at),
});

const endOf = (life: ChosenExpiry['life'], now: number): string | null =>
  life === 'none' ? null : today(now + Number(life) * dayMilliseconds);

const lifeChoices = (now: number): [string, string][] =>
  lives.map((life) => {
    const end = endOf(life, now);
    return [life, end === null ? 'Never' : `In ${life} days, on ${end}`];
  });

/** Renders the choice of an expiry. */
export const expiryFields = (
  now: number,
  { life, expires_at = null }: ChosenExpiry,
  problems: FormProblems,
): Html =>
  html`${select({ name: 'life', label: 'Expires', value: life, options: lifeChoices(now), problems })}${input(
    {
      name: 'expires_at',
      label: 'Or on a day of your choice',
      type: 'date',
      hint: 'The token expires at 00:00 UTC on this day. Default: the choice above.',
      value: expires_at,
      min: today(now + dayMilliseconds),
      problems,
    },
  )}`;

/**
 * Renders the fields of a token of a user.
 * @param scopes each that the token may have, with its meaning
 */
export const newTokenFields = (
  now: number,
  scopes: readonly (readonly [scope: string, meaning: string])[],
  { values, problems }: { values: FilledToken; problems: FormProblems },
): Html =>
  html`${input({
    name: 'name',
    label: 'Name',
    hint: 'What the token is used for.',
    value: values.name,
    required: true,
    problems,
  })}${checkboxes({
    name: 'scopes',
    label: 'Scopes',
    hint: 'Select only what the token needs.',
    values: values.scopes,
    boxes: scopes.map(([scope, hint]) => ({ value: scope, label: scope, hint })),
    problems,
  })}${expiryFields(now, values, problems)}`;

/** Returns the chosen last day; null: none. */
export const chosenEnd = ({ life, expires_at }: ChosenExpiry, now: number): string | null =>
  expires_at ?? endOf(life, now);

export type TokenState = 'active' | 'inactive';

/** Renders the state of a token. */
export const tokenBadge = ({ active, revoked }: { active: boolean; revoked: boolean }): Html => {
  if (active) return html`<span class="badge">Active</span>`;
  return revoked ? html`<span class="badge">Revoked</span>` : html`<span class="badge">Expired</span>`;
};

type TokenUse = { last_used_at: number | null; last_used_ip: string | null };

/** Renders when a token was last used, and from which address. */
export const lastUse = ({ last_used_at, last_used_ip }: TokenUse): Html =>
  last_used_at === null
    ? html`Never`
    : html`${moment(last_used_at)}${last_used_ip !== null && html`<br><span class="quiet">from ${last_used_ip}</span>`}`;

export const stateTabs = (path: string, state: TokenState): Html =>
  tabs('Tokens by state', [
    { path, name: 'Active', isHere: state === 'active' },
    { path: `${path}?state=inactive`, name: 'Revoked and expired', isHere: state === 'inactive' },
  ]);

/** The form of a broadcast message. */
import type { Static, TObject } from 'typebox';
import type { BroadcastMessage } from '../../../../instance/broadcast_messages/queries.ts';
import { broadcastTypes, themes } from '../../../../instance/broadcast_messages/write.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import {
  boolean,
  clearable,
  integers,
  oneOf,
  optional,
  text,
  time,
} from '../../../../../platform/http/schema.ts';
import { formatTime, parseTime } from '../../../../../platform/time.ts';
import { checkbox, checkboxes, input, select, textArea } from '../../../parts/form.ts';
import type { FormProblems } from '../../../parts/form_problems.ts';
import { fieldText, isTicked } from '../../../parts/fields/field_text.ts';
import { guardEdits } from '../../../parts/fields/guard_edits.ts';
import type { Html } from '../../../parts/html.ts';

export const messageFields = {
  message: text({ maxLength: 10_000 }),
  starts_at: optional(clearable(time())),
  ends_at: optional(clearable(time())),
  theme: oneOf(themes, { default: 'indigo' }),
  target_access_levels: { ...integers(), default: [] as number[] },
  target_path: optional(clearable(text())),
  broadcast_type: oneOf(broadcastTypes, { default: 'banner' }),
  dismissable: boolean({ default: false }),
};

export type Filled = Static<TObject<typeof messageFields>>;

const roles = [
  ['10', 'Guests'],
  ['20', 'Reporters'],
  ['30', 'Developers'],
  ['40', 'Maintainers'],
  ['50', 'Owners'],
] as const;

/** The values of the form as text. */
export type Shown = {
  message: string;
  starts_at: string;
  ends_at: string;
  theme: string;
  target_access_levels: readonly string[];
  target_path: string;
  broadcast_type: string;
  dismissable: boolean;
};

export const blank: Shown = {
  message: '',
  starts_at: '',
  ends_at: '',
  theme: 'indigo',
  target_access_levels: [],
  target_path: '',
  broadcast_type: 'banner',
  dismissable: true,
};

export const toShown = (row: BroadcastMessage): Shown => ({
  message: row.message,
  starts_at: formatTime(row.starts_at),
  ends_at: formatTime(row.ends_at),
  theme: row.theme,
  target_access_levels: row.target_access_levels.map(String),
  target_path: row.target_path ?? '',
  broadcast_type: row.broadcast_type,
  dismissable: row.dismissable === 1,
});

/** Returns options whose labels are the words, capitalized and without hyphens. */
const toOptions = (words: readonly string[]) =>
  words.map(
    (word) => [word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`.replaceAll('-', ' ')] as const,
  );

const typeOptions = toOptions(broadcastTypes);
const themeOptions = toOptions(themes);

/** Returns a time as it is stored; the stored one if none was sent. */
const toStoredTime = (typed: string, saved: string): string => {
  const time = typed === '' ? null : parseTime(typed);
  return time === null ? typed || saved : formatTime(time);
};

export const messageGuard = guardEdits({
  word: 'message',
  fromRecord: toShown,
  labels: {
    message: 'Message',
    starts_at: 'Start (UTC)',
    ends_at: 'End (UTC)',
    broadcast_type: 'Kind',
    theme: 'Theme',
    target_path: 'Show only on pages of this path',
    target_access_levels: 'Show only to',
    dismissable: 'Users can dismiss it',
  },
  options: () => ({
    broadcast_type: typeOptions,
    theme: themeOptions,
    target_access_levels: roles,
  }),
  normalize: (typed, saved) => ({
    ...typed,
    starts_at: toStoredTime(typed.starts_at, saved.starts_at),
    ends_at: toStoredTime(typed.ends_at, saved.ends_at),
  }),
});

/** Returns the form as it was sent, for fields that could not be parsed. */
export const fromSent = (sent: RawParams): Shown => ({
  message: fieldText(sent['message']),
  starts_at: fieldText(sent['starts_at']),
  ends_at: fieldText(sent['ends_at']),
  theme: fieldText(sent['theme']),
  target_access_levels: [sent['target_access_levels']].flat().map(fieldText),
  target_path: fieldText(sent['target_path']),
  broadcast_type: fieldText(sent['broadcast_type']),
  dismissable: isTicked(sent['dismissable']),
});

/** Renders the fields. */
export const messageControls = (filled: Shown, problems: FormProblems): Html[] => [
  textArea({ name: 'message', label: 'Message', hint: 'Markdown.', value: filled.message, problems }),
  input({
    name: 'starts_at',
    label: 'Start (UTC)',
    hint: 'Such as 2030-01-31T12:00:00Z. Default: now.',
    value: filled.starts_at,
    problems,
  }),
  input({
    name: 'ends_at',
    label: 'End (UTC)',
    hint: 'Default: one hour after the start.',
    value: filled.ends_at,
    problems,
  }),
  select({
    name: 'broadcast_type',
    label: 'Kind',
    value: filled.broadcast_type,
    options: typeOptions,
  }),
  select({ name: 'theme', label: 'Theme', value: filled.theme, options: themeOptions }),
  input({
    name: 'target_path',
    label: 'Show only on pages of this path',
    hint: 'Such as /group/project/*. Default: all pages.',
    value: filled.target_path,
    problems,
  }),
  checkboxes({
    name: 'target_access_levels',
    label: 'Show only to',
    hint: 'Users with this role in any project or group. None selected: everyone.',
    values: filled.target_access_levels,
    boxes: roles.map(([value, label]) => ({ value, label })),
    problems,
  }),
  checkbox({
    name: 'dismissable',
    label: 'Users can dismiss it',
    checked: filled.dismissable,
    problems,
  }),
];

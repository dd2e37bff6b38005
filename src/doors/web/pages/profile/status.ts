/** The form of the user's own status. */
import { requireUser } from '../../../../core/access/call.ts';
import { loadUserStatus } from '../../../../identity/users/status/load_status.ts';
import {
  type StatusDuration,
  maxMessageLength,
  setStatus,
  statusDurationNames,
} from '../../../../identity/users/status/set_status.ts';
import { boolean, clearable, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { fieldText, isTicked, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { checkbox, form, hidden, input, select } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { type AnyPage, type View, type Visit, redirect } from '../../page.ts';

const durationTexts: Record<StatusDuration, string> = {
  '30_minutes': '30 minutes',
  '3_hours': '3 hours',
  '8_hours': '8 hours',
  '1_day': '1 day',
  '3_days': '3 days',
  '7_days': '7 days',
  '30_days': '30 days',
};

type Values = { emoji: string; message: string; busy: boolean; clear_status_after: string };

export type StatusState = FormState<Values>;

const path = '/profile/status';

const inputs = ({ values, problems }: StatusState): Html[] => [
  input({
    name: 'message',
    label: 'Message',
    hint: `At most ${maxMessageLength} characters.`,
    value: values.message,
    problems,
  }),
  input({
    name: 'emoji',
    label: 'Emoji',
    hint: html`Its name, such as <code>palm_tree</code>. Default: a speech balloon.`,
    value: values.emoji,
    autocomplete: 'off',
    problems,
  }),
  checkbox({
    name: 'busy',
    label: 'Busy',
    hint: 'Shown next to your name on your profile.',
    checked: values.busy,
    problems,
  }),
  select({
    name: 'clear_status_after',
    label: 'Clear after',
    value: values.clear_status_after,
    options: [['', 'Never'], ...statusDurationNames.map((name) => [name, durationTexts[name]] as const)],
    problems,
  }),
];

/** Renders the card. @param refused a refused form; default: the stored status */
export const statusPart = async (visit: Visit, refused?: StatusState): Promise<Html> => {
  const stored = await loadUserStatus(visit.call, requireUser(visit.call).id);
  const state =
    refused ??
    unsent<Values>({
      emoji: stored?.emoji ?? '',
      message: stored?.message ?? '',
      busy: stored?.availability === 'busy',
      clear_status_after: '',
    });
  const end = stored?.clear_at ?? null;
  const clear =
    stored !== undefined &&
    form(visit, { action: path, submit: 'Clear status', isQuiet: true }, hidden('message', ''));
  return html`<section class="card" aria-labelledby="status_title"><header><h2 id="status_title">Status</h2></header><div class="body stack">
${end !== null && html`<p>Your status is cleared ${moment(end)}.</p>`}${form(visit, { action: path, submit: 'Set status', problems: state.problems }, ...inputs(state))}${clear}</div></section>
`;
};

/** @param view shows a refused form */
export const statusPage = (view: (visit: Visit, state: StatusState) => Promise<View>): AnyPage =>
  formPage({
    path,
    audience: 'user',
    address: {},
    fields: {
      emoji: optional(clearable(text())),
      message: optional(clearable(text())),
      busy: boolean({ default: false }),
      clear_status_after: optional(clearable(oneOf(statusDurationNames))),
    },
    find: async ({ call }) => requireUser(call),
    fromSent: (sent): Values => ({
      ...readTexts(sent, ['emoji', 'message']),
      busy: isTicked(sent['busy']),
      clear_status_after: fieldText(sent['clear_status_after']),
    }),
    run: async ({ call }, _user, { emoji, message, busy, clear_status_after }) => {
      const status = { emoji: (emoji ?? '').replaceAll(':', ''), message: message ?? '' };
      const availability = busy ? 'busy' : 'not_set';
      const clearAfter = clear_status_after || null;
      await setStatus(call, { ...status, availability, clearAfter });
      const isEmpty = status.emoji === '' && status.message === '' && !busy;
      return redirect('/profile', isEmpty ? 'Your status was cleared.' : 'Your status was set.');
    },
    view: async (visit, _user, state) => await view(visit, state),
  });

/** The form that changes the selected records of a list. */
import type { LoadedTarget } from '../../../../../planning/issuables/target.ts';
import { names, oneOf, optional, text, texts } from '../../../../../platform/http/schema.ts';
import { type AnyPage, type Flash, Redirect } from '../../../page.ts';
import { fieldText } from '../../../parts/fields/field_text.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { problemText } from '../../../parts/form_problems.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { safeRedirectPath } from '../../../request/safe_redirect_path.ts';
import { type BulkRequest, type Outcome, applyBulkEdit } from './apply_bulk_edit.ts';
import { bulkPath } from './bulk_form.ts';
import type { BulkKind } from './bulk_kind.ts';

/** The most refusals that a message names. */
const maxNamed = 5;

const isEmpty = (request: BulkRequest): boolean =>
  Object.values(request).every((value) =>
    typeof value === 'string' ? value.trim() === '' : value.length === 0,
  );

/** Says how many records changed, and which did not for what reason. */
const describeOutcome = ({ changed, unchanged, refusals }: Outcome, word: string): Flash => {
  const named = refusals.slice(0, maxNamed).map(({ name, reason }) => `${name ?? `one ${word}`}: ${reason}`);
  const more = refusals.length > maxNamed ? [`${refusals.length - maxNamed} more`] : [];
  const parts = [
    `${spellCount(changed, word)} changed.`,
    unchanged > 0 && `${spellCount(unchanged, word)} had nothing to change.`,
    refusals.length > 0 && `${refusals.length} not changed: ${[...named, ...more].join('; ')}.`,
  ];
  return { kind: refusals.length > 0 ? 'alert' : 'notice', text: parts.filter(Boolean).join(' ') };
};

/** Fields of the form but `items` and `back`. An absent or empty field changes nothing. */
const changeFields = {
  state_event: oneOf(['', 'close', 'reopen'], { default: '' }),
  add_labels: optional(names()),
  remove_labels: optional(names()),
  assignee: optional(text()),
  reviewer: optional(text()),
  due_date: optional(text()),
  confidential: oneOf(['', 'true', 'false'], { default: '' }),
  discussion_locked: oneOf(['', 'true', 'false'], { default: '' }),
  milestone: optional(text()),
  subscription: oneOf(['', 'subscribe', 'unsubscribe'], { default: '' }),
};

export const bulkPages = <L extends LoadedTarget>(kind: BulkKind<L>): AnyPage[] => [
  formPage({
    path: bulkPath(kind.noun.segment),
    audience: 'user',
    address: {},
    fields: { ...changeFields, items: optional(texts()), back: optional(text({ maxLength: 4_000 })) },
    find: async () => null,
    fromSent: ({ back }) => fieldText(back),
    run: async ({ call }, _found, { items = [], back, ...sent }) => {
      const { add_labels = [], remove_labels = [], assignee = '', reviewer = '', ...others } = sent;
      const { due_date = '', milestone = '', ...choices } = others;
      const request = { ...choices, add_labels, remove_labels, assignee, reviewer, due_date, milestone };
      const answer = (flash: Flash): Redirect => new Redirect(safeRedirectPath(back, call.baseUrl), flash);
      const { word } = kind.noun;
      if (items.length === 0) return answer({ kind: 'alert', text: `Select at least one ${word}.` });
      if (isEmpty(request)) return answer({ kind: 'alert', text: 'Choose what to change.' });
      return answer(describeOutcome(await applyBulkEdit(kind, call, items, request), word));
    },
    view: ({ call }, _found, { values: back, problems }) =>
      new Redirect(safeRedirectPath(back, call.baseUrl), {
        kind: 'alert',
        text: `Nothing changed: ${problemText(problems)}.`,
      }),
  }),
];

/** Reads what the form of a new merge request sends. */
import { editable } from '../../../../../planning/issuables/params.ts';
import type { RawParams } from '../../../../../platform/http/params.ts';
import { boolean, hash, integers, longText, optional } from '../../../../../platform/http/schema.ts';
import { isTicked, readTexts } from '../../../parts/fields/field_text.ts';
import { projectPath } from '../../../parts/frame/project_layout.ts';
import { namedUserParams } from '../../issuables/named_users.ts';
import { readPrefilledProperties } from '../../issuables/prefilled_properties.ts';
import type { SentEnds } from './find_ends.ts';
import type { Filled } from './form_fields.ts';

type Nested = Readonly<Record<string, unknown>>;

export const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const toId = (value: unknown): number | undefined => {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

export const toEnds = (sent: Nested): SentEnds => ({
  source_project_id: toId(sent['source_project_id']),
  target_project_id: toId(sent['target_project_id']),
  source_branch: toText(sent['source_branch'])
    ?.trim()
    .replace(/^refs\/heads\//, ''),
  target_branch: toText(sent['target_branch'])
    ?.trim()
    .replace(/^refs\/heads\//, ''),
});

export const toNested = (sent: unknown): Nested =>
  typeof sent === 'object' && sent !== null ? (sent as Nested) : {};

/** The project whose page it is, and the branches. */
export const endsParams = { ...projectPath, merge_request: optional(hash({})) };

export const formFields = {
  title: optional(longText()),
  description: editable.description,
  labels: editable.labels,
  assignee_ids: editable.assignee_ids,
  reviewer_ids: optional(integers()),
  ...namedUserParams,
  milestone_id: editable.milestone_id,
  squash: optional(boolean()),
  remove_source_branch: optional(boolean()),
  draft: optional(boolean()),
};

/** Returns the fields as they were sent. */
export const fromSent = (sent: RawParams): Filled => ({
  ...readPrefilledProperties(sent),
  ...readTexts(sent, ['title', 'description', 'assignee_username', 'reviewer_username']),
  draft: isTicked(sent['draft']),
  squash: isTicked(sent['squash']),
  remove_source_branch: isTicked(sent['remove_source_branch']),
});

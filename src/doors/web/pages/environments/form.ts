/** Form of an environment. */
import type { Static } from 'typebox';
import type { EnvironmentEdit } from '../../../../ci/environments/create_update_delete.ts';
import type { EnvironmentRow } from '../../../../ci/environments/queries.ts';
import { tiers } from '../../../../ci/environments/slug_and_tier.ts';
import { clearable, longText, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type FormProblems, form, input, select, textArea } from '../../parts/form.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';

export const filledParams = {
  external_url: optional(clearable(text({ maxLength: 1_000 }))),
  tier: optional(clearable(oneOf(tiers))),
  description: optional(clearable(longText())),
};

const shape = object(filledParams);
export type Filled = Static<typeof shape>;
export type Tried = { given: Filled & { name?: string | undefined }; problems: FormProblems };

export const filledOf = ({ external_url, tier, description }: EnvironmentRow): Filled => ({
  external_url,
  tier: tiers.find((one) => one === tier) ?? 'other',
  description,
});

const textOrNull = (value: string | null | undefined): string | null =>
  value === undefined || value === null || value.trim() === '' ? null : value.trim();

/** Converts the form to an edit. An empty tier keeps the default of the name. */
export const editOf = ({ external_url, tier, description }: Filled): EnvironmentEdit => ({
  external_url: textOrNull(external_url),
  description: textOrNull(description),
  ...(tier !== undefined && tier !== null && { tier }),
});

export const environmentProblems = (problems: FormProblems): FormProblems =>
  moveUnknownToText(problems, ['name', 'external_url']);

const tierNames = tiers.map((tier) => [tier, `${tier.slice(0, 1).toUpperCase()}${tier.slice(1)}`] as const);

type FormContext = { action: string; submit: string; isNew: boolean };

export const environmentForm = (visit: Visit, context: FormContext, { given, problems }: Tried): Html =>
  form(
    visit,
    { action: context.action, submit: context.submit, problems },
    context.isNew
      ? input({ name: 'name', label: 'Name', value: given.name ?? '', required: true, problems })
      : null,
    input({
      name: 'external_url',
      label: 'Address',
      hint: 'Address of the deployed application: http or https.',
      value: given.external_url ?? '',
      problems,
    }),
    select({
      name: 'tier',
      label: 'Tier',
      value: given.tier ?? '',
      options: [...(context.isNew ? [['', 'Chosen by name'] as const] : []), ...tierNames],
    }),
    textArea({ name: 'description', label: 'Description', value: given.description ?? '', rows: 3 }),
  );

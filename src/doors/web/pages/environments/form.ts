/** Form of an environment. */
import type { Static } from 'typebox';
import type { EnvironmentEdit } from '../../../../ci/environments/create_update_delete.ts';
import type { EnvironmentRow } from '../../../../ci/environments/queries.ts';
import { tiers } from '../../../../ci/environments/slug_and_tier.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, longText, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { form, input, select, textArea } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import type { Html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { readTexts, textOrNull } from '../../parts/fields/field_text.ts';
import type { FormState } from '../../parts/fields/form_page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';

export const environmentFields = {
  external_url: optional(clearable(text({ maxLength: 1_000 }))),
  tier: optional(clearable(oneOf(tiers))),
  description: optional(clearable(longText())),
};

const textFields = ['name', 'external_url', 'tier', 'description'] as const;

type EnvironmentValues = Record<(typeof textFields)[number], string>;

export type EnvironmentState = FormState<EnvironmentValues>;

export const blank: EnvironmentValues = { name: '', external_url: '', tier: '', description: '' };

export const fromRecord = ({ name, external_url, tier, description }: EnvironmentRow): EnvironmentValues => ({
  name,
  external_url: external_url ?? '',
  tier: tiers.find((one) => one === tier) ?? 'other',
  description: description ?? '',
});

export const fromSent = (sent: RawParams): EnvironmentValues => readTexts(sent, textFields);

const shape = object(environmentFields);

/** An empty tier keeps the default of the name. */
export const toEdit = ({ external_url, tier, description }: Static<typeof shape>): EnvironmentEdit => ({
  external_url: textOrNull(external_url),
  description: textOrNull(description),
  ...(tier !== undefined && tier !== null && { tier }),
});

export const toProblems = (problems: FormProblems): FormProblems =>
  moveUnknownToText(problems, ['name', 'external_url']);

const tierNames = tiers.map((tier) => [tier, `${tier.slice(0, 1).toUpperCase()}${tier.slice(1)}`] as const);

type FormContext = { action: string; submit: string; isNew: boolean };

export const environmentForm = (
  visit: Visit,
  context: FormContext,
  { values, problems }: EnvironmentState,
): Html =>
  form(
    visit,
    { action: context.action, submit: context.submit, problems },
    context.isNew
      ? input({ name: 'name', label: 'Name', value: values.name, required: true, problems })
      : null,
    input({
      name: 'external_url',
      label: 'Address',
      hint: 'Address of the deployed application: http or https.',
      value: values.external_url,
      problems,
    }),
    select({
      name: 'tier',
      label: 'Tier',
      value: values.tier,
      options: [...(context.isNew ? [['', 'Chosen by name'] as const] : []), ...tierNames],
    }),
    textArea({ name: 'description', label: 'Description', value: values.description, rows: 3 }),
  );

/** The form of a badge: a new one, or an edit. */
import type { BadgeRow } from '../../../../projects/badges/json.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { baseField, guardEdits } from '../../parts/fields/guard_edits.ts';
import { input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';

const url = optional(text({ maxLength: 2_000 }));

/** @property preview the second button was used */
export const badgeFields = {
  name: optional(clearable(text())),
  link_url: url,
  image_url: url,
  preview: optional(oneOf(['1'])),
};

export const editFields = { ...badgeFields, ...baseField };

const names = ['name', 'link_url', 'image_url'] as const;

export type BadgeValues = Record<(typeof names)[number], string>;

export const blank: BadgeValues = { name: '', link_url: '', image_url: '' };

export const fromRecord = ({ name, link_url, image_url }: BadgeRow): BadgeValues => ({
  name: name ?? '',
  link_url,
  image_url,
});

export const fromSent = (sent: RawParams): BadgeValues => readTexts(sent, names);

export const badgeGuard = guardEdits({
  word: 'badge',
  fromRecord,
  labels: { name: 'Name', link_url: 'Link', image_url: 'Image' },
});

const placeholders = html`May contain <code>%{project_path}</code>, <code>%{project_title}</code>, <code>%{project_name}</code>, <code>%{project_id}</code>, <code>%{project_namespace}</code>, <code>%{group_name}</code>, <code>%{gitlab_server}</code> and <code>%{default_branch}</code>.`;

export const badgeInputs = (values: BadgeValues, problems: FormProblems): Html[] => [
  input({
    name: 'name',
    label: 'Name',
    hint: 'Read out in place of the image.',
    value: values.name,
    problems,
  }),
  input({
    name: 'link_url',
    label: 'Link',
    hint: placeholders,
    value: values.link_url,
    required: true,
    problems,
  }),
  input({
    name: 'image_url',
    label: 'Address of the image',
    hint: 'May contain the same placeholders.',
    value: values.image_url,
    required: true,
    problems,
  }),
];

export const previewButton = html`<button name="preview" value="1">Preview</button>`;

/** Controls of the sections of settings pages, with the words in which other parts of the page name their values. */
import type { Options } from '../../parts/fields/guard_edits.ts';
import { checkbox, input, radios, select, textArea } from '../../parts/form.ts';
import { Html } from '../../parts/html.ts';
import { visibilityChoice, visibilityOptions } from '../../parts/fields/visibility.ts';

export type Control = {
  /** The parameter of the API that it sets. */
  name: string;
  label: string;
  /** Labels of the values that can be chosen. */
  options: Options;
  html: Html;
};

/** A part of a section: a control, or markup whose values are not compared. */
export type SectionPart = Control | Html;

type Described = { name: string; label: string };

const toControl = ({ name, label }: Described, html: Html, options: Options = []): Control => ({
  name,
  label,
  options,
  html,
});

export const inputControl = (field: Parameters<typeof input>[0]): Control => toControl(field, input(field));

export const textAreaControl = (field: Parameters<typeof textArea>[0]): Control =>
  toControl(field, textArea(field));

export const checkboxControl = (field: Parameters<typeof checkbox>[0]): Control =>
  toControl(field, checkbox(field));

export const selectControl = (field: Parameters<typeof select>[0]): Control =>
  toControl(field, select(field), field.options);

export const radiosControl = (field: Parameters<typeof radios>[0]): Control =>
  toControl(
    field,
    radios(field),
    field.boxes.map(({ value, label }) => [value, label] as const),
  );

export const visibilityControl = (options: Parameters<typeof visibilityChoice>[0]): Control =>
  toControl({ name: 'visibility', label: 'Visibility' }, visibilityChoice(options), visibilityOptions);

/** Returns the controls among the parts of a section. */
export const controlsIn = (parts: readonly SectionPart[]): Control[] =>
  parts.filter((part): part is Control => !(part instanceof Html));

export const renderParts = (parts: readonly SectionPart[]): Html[] =>
  parts.map((part) => (part instanceof Html ? part : part.html));

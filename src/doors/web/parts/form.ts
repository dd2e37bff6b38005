/** Renders forms: each field has a label, and its problem next to it, linked for screen readers. */
import { type FormProblems, formatProblem, noProblems, summaryText } from './form_problems.ts';
import { type Html, html } from './html.ts';
import type { Visit } from '../page.ts';

export type FieldOptions = {
  name: string;
  /** Element id; by default derived from the name. For pages with several forms that share a name. */
  id?: string;
  label: string;
  /** Shown below the label. */
  hint?: Html | string;
  problems?: FormProblems;
};

const idOf = (name: string): string => name.replaceAll(/\W+/g, '_');

type FieldParts = {
  id: string;
  describedBy: Html | null;
  attributes: Html;
  hint: Html | null;
  error: Html | null;
};

/** Renders the hint and the problem of a field, and the attributes that link its control to them. */
export const fieldParts = ({
  name,
  label,
  hint,
  id = idOf(name),
  problems = noProblems,
}: FieldOptions): FieldParts => {
  const wrong = problems.fields[name] ?? [];
  const ids = [...(hint === undefined ? [] : [`${id}_hint`]), ...(wrong.length > 0 ? [`${id}_error`] : [])];
  const describedBy = ids.length === 0 ? null : html` aria-describedby="${ids.join(' ')}"`;
  return {
    id,
    describedBy,
    attributes: html`${describedBy}${wrong.length > 0 && html` aria-invalid="true"`}`,
    hint: hint === undefined ? null : html`<p class="hint" id="${id}_hint">${hint}</p>`,
    error:
      wrong.length === 0
        ? null
        : html`<p class="error" id="${id}_error">${wrong.map((one) => formatProblem(label, one)).join('. ')}</p>`,
  };
};

/**
 * Suggestions that our script loads from the API: a field of each record of a list.
 * @property search parameter that searches the records, for lists longer than the first page
 * @property label field shown next to it
 */
export type Suggestions = { url: string; field: string; search: string; label?: string };

type InputOptions = FieldOptions & {
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'date' | 'color';
  value?: string | number | null;
  autocomplete?: string;
  required?: boolean;
  autofocus?: boolean;
  /** For a number or a date. */
  min?: string | number | null;
  max?: string | number | null;
  step?: number | 'any';
  /** Selector of the items that the script hides while the typed text is not in them. */
  filters?: string;
  /** Values that the browser proposes; others may be typed. */
  suggestions?: readonly string[] | Suggestions;
};

const boundsOf = ({ min = null, max = null, step }: InputOptions): Html =>
  html`${min !== null && html` min="${min}"`}${max !== null && html` max="${max}"`}${
    step !== undefined && html` step="${step}"`
  }`;

const suggestionList = (id: string, suggestions: readonly string[] | Suggestions): Html =>
  html`<datalist id="${id}_list">${'url' in suggestions ? null : suggestions.map((one) => html`<option value="${one}"></option>`)}</datalist>`;

/** Attributes that link a field to its suggestions. */
const suggestionAttributes = (id: string, suggestions: readonly string[] | Suggestions): Html =>
  html` list="${id}_list"${'url' in suggestions && html` data-suggest="${suggestions.url}" data-suggest-field="${suggestions.field}" data-suggest-search="${suggestions.search}"${suggestions.label !== undefined && html` data-suggest-label="${suggestions.label}"`}`}`;

/** Renders a line of text. */
export const input = (field: InputOptions): Html => {
  const { suggestions = [] } = field;
  const isSuggesting = 'url' in suggestions || suggestions.length > 0;
  const { name, label, type = 'text', value, autocomplete, required = false, autofocus = false } = field;
  const { id, attributes, hint, error } = fieldParts(field);
  const isName = type === 'password' || type === 'email' || autocomplete?.startsWith('username') === true;
  return html`<div class="field">
<label for="${id}">${label}</label>${hint}
<input id="${id}" name="${name}" type="${type}"${value !== undefined && value !== null && html` value="${value}"`}${
    autocomplete !== undefined && html` autocomplete="${autocomplete}"`
  }${isName && html` autocapitalize="none" spellcheck="false"`}${required && html` required`}${
    autofocus && html` autofocus`
  }${field.filters !== undefined && html` data-filter="${field.filters}"`}${boundsOf(field)}${isSuggesting && suggestionAttributes(id, suggestions)}${attributes}>
${isSuggesting && suggestionList(id, suggestions)}${error}</div>
`;
};

/** Renders a file input, for a form with `hasFiles`. @param accept permitted media types and extensions. */
export const fileInput = (
  field: FieldOptions & { accept?: string; required?: boolean; isMultiple?: boolean },
): Html => {
  const { id, attributes, hint, error } = fieldParts(field);
  return html`<div class="field">
<label for="${id}">${field.label}</label>${hint}
<input id="${id}" name="${field.name}" type="file"${field.accept !== undefined && html` accept="${field.accept}"`}${
    field.required === true && html` required`
  }${field.isMultiple === true && html` multiple`}${attributes}>
${error}</div>
`;
};

type TextAreaOptions = FieldOptions & {
  value?: string | null;
  rows?: number;
  /** The script keeps what is typed until it is sent. */
  keepsDraft?: boolean;
};

export const textArea = (field: TextAreaOptions): Html => {
  const { id, attributes, hint, error } = fieldParts(field);
  // Browsers drop the first newline after the tag.
  return html`<div class="field">
<label for="${id}">${field.label}</label>${hint}
<textarea id="${id}" name="${field.name}" rows="${field.rows ?? 4}"${field.keepsDraft === true && html` data-draft`}${attributes}>
${field.value ?? ''}</textarea>
${error}</div>
`;
};

/** Renders a checkbox: sends `1` when ticked, else `0` (or nothing, if several share the name). */
export const checkbox = (field: FieldOptions & { checked: boolean; value?: string }): Html => {
  const { name, label, checked, value } = field;
  const id = field.id ?? idOf(value === undefined ? name : `${name}_${value}`);
  // Several boxes may share a name, so the ids of their hints are those of their own.
  const { attributes, hint, error } = fieldParts({ ...field, id });
  return html`<div class="field check">
${value === undefined && html`<input type="hidden" name="${name}" value="0">`}
<input id="${id}" name="${name}" type="checkbox" value="${value ?? '1'}"${checked && html` checked`}${attributes}>
<label for="${id}">${label}</label>${hint}${error}</div>
`;
};

type Box = { value: string; label: string; hint?: Html | string };

/** Renders a checkbox for each value. Sends an empty value first, so that an empty choice is sent, too. */
export const checkboxes = (
  field: FieldOptions & { values: readonly string[]; boxes: readonly Box[] },
): Html => {
  const { id, describedBy, hint, error } = fieldParts(field);
  const { name, label, values, boxes } = field;
  return html`<fieldset id="${id}"${describedBy}>
<legend>${label}</legend>${hint}${error}${hidden(`${name}[]`, '')}
${boxes.map((box) => checkbox({ ...box, name: `${name}[]`, checked: values.includes(box.value) }))}</fieldset>
`;
};

/** Renders a select; each value is `[value, label]`. */
export const select = (
  field: FieldOptions & { value: string | null; options: readonly (readonly [string, string])[] },
): Html => {
  const { id, attributes, hint, error } = fieldParts(field);
  const options = field.options.map(
    ([value, label]) =>
      html`<option value="${value}"${value === field.value && html` selected`}>${label}</option>`,
  );
  return html`<div class="field">
<label for="${id}">${field.label}</label>${hint}
<select id="${id}" name="${field.name}"${attributes}>${options}</select>
${error}</div>
`;
};

type RadiosOptions = FieldOptions & {
  value: string | null;
  boxes: readonly (Box & { isDisabled?: boolean })[];
};

/** Renders a choice of one of a few values, each with an explanation. */
export const radios = (field: RadiosOptions): Html => {
  const { id, describedBy, hint, error } = fieldParts(field);
  const radio = ({
    value,
    label,
    hint: meaning,
    isDisabled = false,
  }: RadiosOptions['boxes'][number]): Html => {
    const own = `${id}_${value}`;
    return html`<div class="field check">
<input id="${own}" name="${field.name}" type="radio" value="${value}"${value === field.value && html` checked`}${
      isDisabled && html` disabled`
    }${meaning !== undefined && html` aria-describedby="${own}_hint"`}>
<label for="${own}">${label}</label>${meaning !== undefined && html`<p class="hint" id="${own}_hint">${meaning}</p>`}</div>
`;
  };
  return html`<fieldset id="${id}"${describedBy}>
<legend>${field.label}</legend>${hint}${error}
${field.boxes.map(radio)}</fieldset>
`;
};

export const hidden = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

type FormOptions = {
  action: string;
  /** Text of its button. */
  submit: string;
  /** Accessible name of the button, where several on a page have the same text. */
  name?: string;
  /** The operation cannot be undone. */
  danger?: boolean;
  /** The button is one of several on the page, not its main action. */
  isQuiet?: boolean;
  /** A second button; the Enter key activates the first. */
  other?: Html;
  /** The form sends files. */
  hasFiles?: boolean;
  problems?: FormProblems;
};

/** Summary of the problems, before the fields; read out when the page opens. */
const summary = (problems: FormProblems): Html | null => {
  const said = summaryText(problems);
  return said === ''
    ? null
    : html`<p class="flash alert" role="alert">${said}</p>
`;
};

/** Renders a form with method POST and its CSRF token. */
export const form = (visit: Visit, options: FormOptions, ...fields: (Html | null)[]): Html => {
  const { action, submit, name, danger = false, isQuiet = false, problems = noProblems } = options;
  const kind = [danger && 'danger', isQuiet && 'small'].filter(Boolean).join(' ') || 'primary';
  return html`<form method="post" action="${action}"${options.hasFiles === true && html` enctype="multipart/form-data"`}>
${summary(problems)}${hidden('authenticity_token', visit.csrfToken())}
${fields}<div class="buttons"><button class="${kind}"${
    name !== undefined && html` aria-label="${name}"`
  }>${submit}</button>${options.other}</div>
</form>
`;
};

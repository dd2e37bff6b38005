/** Forms: a label for each field, what is wrong with it said beside it and tied to it. */
import { Failure, type Problems } from '../errors.ts';
import { type Html, html } from './html.ts';
import type { Visit } from './page.ts';

/** What was wrong with a form as it was sent. */
export type FormProblems = { text: string | null; fields: Problems };

export const noProblems: FormProblems = { text: null, fields: {} };

const refusals = new Set<Failure['kind']>(['bad_request', 'conflict', 'unprocessable']);

/** What a failure says about a form; null: it is not about what was filled in. */
export const problemsOf = (error: unknown): FormProblems | null => {
  if (!(error instanceof Failure) || !refusals.has(error.kind)) return null;
  const { message } = (error.body ?? {}) as { message?: unknown };
  if (typeof message === 'string') return { text: message, fields: {} };
  return { text: null, fields: (message ?? {}) as Problems };
};

/**
 * Runs an operation for a form.
 * @returns what was wrong with what was filled in; null: nothing, it is done
 * @throws whatever is not about the form
 */
export const attempt = async (operation: () => Promise<unknown>): Promise<FormProblems | null> => {
  try {
    await operation();
    return null;
  } catch (error) {
    const problems = problemsOf(error);
    if (problems === null) throw error;
    return problems;
  }
};

type FieldGiven = {
  name: string;
  /** In the page; default: made of the name. For a name that several forms of a page have. */
  id?: string;
  label: string;
  /** Shown below the label. */
  hint?: Html | string;
  problems?: FormProblems;
};

const idOf = (name: string): string => name.replaceAll(/\W+/g, '_');

/** What is wrong with a field, as a sentence; some problems are one themselves. */
export const saidOf = (label: string, problem: string): string =>
  /^\p{Lu}/u.test(problem) ? problem : `${label} ${problem}`;

type Ties = { id: string; described: Html | null; attributes: Html; hint: Html | null; error: Html | null };

/** What ties a control to its hint and to what is wrong with it. */
const tiesOf = ({ name, label, hint, id = idOf(name), problems = noProblems }: FieldGiven): Ties => {
  const wrong = problems.fields[name] ?? [];
  const ids = [...(hint === undefined ? [] : [`${id}_hint`]), ...(wrong.length > 0 ? [`${id}_error`] : [])];
  const described = ids.length === 0 ? null : html` aria-describedby="${ids.join(' ')}"`;
  return {
    id,
    described,
    attributes: html`${described}${wrong.length > 0 && html` aria-invalid="true"`}`,
    hint: hint === undefined ? null : html`<p class="hint" id="${id}_hint">${hint}</p>`,
    error:
      wrong.length === 0
        ? null
        : html`<p class="error" id="${id}_error">${wrong.map((one) => saidOf(label, one)).join('. ')}</p>`,
  };
};

type InputGiven = FieldGiven & {
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'date';
  value?: string | number | null;
  autocomplete?: string;
  required?: boolean;
  autofocus?: boolean;
  /** Of a number or a date. */
  min?: string | number | null;
  max?: string | number | null;
  step?: number | 'any';
};

const boundsOf = ({ min = null, max = null, step }: InputGiven): Html =>
  html`${min !== null && html` min="${min}"`}${max !== null && html` max="${max}"`}${
    step !== undefined && html` step="${step}"`
  }`;

/** A line of text. */
export const input = (given: InputGiven): Html => {
  const { name, label, type = 'text', value, autocomplete, required = false, autofocus = false } = given;
  const { id, attributes, hint, error } = tiesOf(given);
  const isName = type === 'password' || type === 'email' || autocomplete === 'username';
  return html`<div class="field">
<label for="${id}">${label}</label>${hint}
<input id="${id}" name="${name}" type="${type}"${value !== undefined && value !== null && html` value="${value}"`}${
    autocomplete !== undefined && html` autocomplete="${autocomplete}"`
  }${isName && html` autocapitalize="none" spellcheck="false"`}${required && html` required`}${
    autofocus && html` autofocus`
  }${boundsOf(given)}${attributes}>
${error}</div>
`;
};

/** Several lines of text. */
export const textArea = (given: FieldGiven & { value?: string | null; rows?: number }): Html => {
  const { id, attributes, hint, error } = tiesOf(given);
  // The first line end after the tag is none of the text.
  return html`<div class="field">
<label for="${id}">${given.label}</label>${hint}
<textarea id="${id}" name="${given.name}" rows="${given.rows ?? 4}"${attributes}>
${given.value ?? ''}</textarea>
${error}</div>
`;
};

/** A box to tick: sends `1` when ticked, else `0` (or, of several by one name, nothing). */
export const checkbox = (given: FieldGiven & { checked: boolean; value?: string }): Html => {
  const { attributes, hint, error } = tiesOf(given);
  const { name, label, checked, value } = given;
  const id = idOf(value === undefined ? name : `${name}_${value}`);
  return html`<div class="field check">
${value === undefined && html`<input type="hidden" name="${name}" value="0">`}
<input id="${id}" name="${name}" type="checkbox" value="${value ?? '1'}"${checked && html` checked`}${attributes}>
<label for="${id}">${label}</label>${hint}${error}</div>
`;
};

type Box = { value: string; label: string; hint?: Html | string };

/** Some of some values, each with a box to tick. Sends an empty value first, so that none at all is sent, too. */
export const checkboxes = (
  given: FieldGiven & { values: readonly string[]; boxes: readonly Box[] },
): Html => {
  const { id, described, hint, error } = tiesOf(given);
  const { name, label, values, boxes } = given;
  return html`<fieldset id="${id}"${described}>
<legend>${label}</legend>${hint}${error}${hidden(`${name}[]`, '')}
${boxes.map((box) => checkbox({ ...box, name: `${name}[]`, checked: values.includes(box.value) }))}</fieldset>
`;
};

/** One of some values; each is `[value, label]`. */
export const select = (
  given: FieldGiven & { value: string | null; options: readonly (readonly [string, string])[] },
): Html => {
  const { id, attributes, hint, error } = tiesOf(given);
  const options = given.options.map(
    ([value, label]) =>
      html`<option value="${value}"${value === given.value && html` selected`}>${label}</option>`,
  );
  return html`<div class="field">
<label for="${id}">${given.label}</label>${hint}
<select id="${id}" name="${given.name}"${attributes}>${options}</select>
${error}</div>
`;
};

export const hidden = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

type FormGiven = {
  action: string;
  /** On its button. */
  submit: string;
  /** What its button does, in full, where several of a page say the same. */
  name?: string;
  /** What it does cannot be undone. */
  danger?: boolean;
  problems?: FormProblems;
};

/** What was wrong, before the fields; read out when the page opens. */
const summary = ({ text, fields }: FormProblems): Html | null => {
  const count = Object.keys(fields).length;
  if (text === null && count === 0) return null;
  const said =
    text ?? (count === 1 ? 'One field needs another value.' : `${count} fields need other values.`);
  return html`<p class="flash alert" role="alert">${said}</p>
`;
};

/** A form that posts, with the token without which no form is taken. */
export const form = (visit: Visit, given: FormGiven, ...fields: (Html | null)[]): Html => {
  const { action, submit, name, danger = false, problems = noProblems } = given;
  return html`<form method="post" action="${action}">
${summary(problems)}${hidden('authenticity_token', visit.csrfToken())}
${fields}<div class="buttons"><button${danger && html` class="danger"`}${
    name !== undefined && html` aria-label="${name}"`
  }>${submit}</button></div>
</form>
`;
};

/**
 * A text area for Markdown. The client script adds a preview, uploads of files in a project, and keeps what is typed
 * until it is sent; without scripts it is a plain text area.
 */
import type { Project } from '../../../projects/projects/find.ts';
import { type FieldGiven, tiesOf } from './form.ts';
import { type Html, html } from './html.ts';

type Given = FieldGiven & {
  value?: string | null;
  rows?: number;
  placeholder?: string;
  required?: boolean;
  /** Shortcut that moves the focus into it. */
  key?: string;
  /** The label is for screen readers only, as where a heading says the same. */
  hasHiddenLabel?: boolean;
  /** Project that references and relative links of the preview mean, and that files are uploaded to. */
  project?: Pick<Project, 'full_path'> | null;
};

/** The switch between text and preview. Its buttons need the script, so styles hide them where scripts are off. */
const modes = (label: string): Html =>
  html`<span class="segmented needs-script" role="group" aria-label="${label}: mode"><button type="button" class="small" data-mode="write" aria-pressed="true">Write</button><button type="button" class="small" data-mode="preview" aria-pressed="false">Preview</button></span>`;

/** The button that uploads files. They may also be pasted into the text or dropped on it. */
const attach = (label: string): Html =>
  html`<button type="button" class="small needs-script" data-attach>Attach files</button><input type="file" multiple hidden aria-label="${label}: files">`;

/** Renders a field for a Markdown text, within a `form`. */
export const markdownEditor = (given: Given): Html => {
  const { name, label, value, rows = 8, placeholder, required = false, project = null, key } = given;
  const { id, attributes, hint, error } = tiesOf(given);
  const labelClass = given.hasHiddenLabel === true && html` class="visually-hidden"`;
  // Browsers drop the first newline after the tag.
  return html`<div class="field markdown-editor"${project !== null && html` data-project="${project.full_path}"`}>
<div class="row between"><label for="${id}"${labelClass}>${label}</label>${modes(label)}<span class="hint end">Markdown is supported</span>${project !== null && attach(label)}</div>${hint}
<textarea id="${id}" name="${name}" rows="${rows}"${placeholder !== undefined && html` placeholder="${placeholder}"`}${
    required && html` required`
  }${key !== undefined && html` data-key="${key}" data-key-name="${label}"`}${attributes}>
${value ?? ''}</textarea>
<div class="preview" role="region" aria-label="Preview" tabindex="0" hidden></div>
${error}</div>
`;
};

type ReplyGiven = {
  name: string;
  id: string;
  label: string;
  value?: string | undefined;
  project: Pick<Project, 'full_path'>;
};

/**
 * Renders a small field for a Markdown text, as a page has one for each of its threads. The script completes it from
 * `editorTemplate` when it opens.
 */
export const replyEditor = ({ name, id, label, value = '', project }: ReplyGiven): Html =>
  html`<div class="field markdown-editor" data-project="${project.full_path}"><label class="visually-hidden" for="${id}">${label}</label><textarea id="${id}" name="${name}" rows="4" required>
${value}</textarea></div>`;

/** Renders what the script adds to the small fields of a page. */
export const editorTemplate = html`<template id="editor_template"><div class="row between">${modes('Text')}<span class="hint end">Markdown is supported</span>${attach('Text')}</div><div class="preview" role="region" aria-label="Preview" tabindex="0" hidden></div></template>`;

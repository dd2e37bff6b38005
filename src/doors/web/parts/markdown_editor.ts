/**
 * A text area for Markdown. The client script adds a preview, buttons that format, completion of references, and file
 * uploads (in a project), and keeps the draft until it is submitted; without scripts it is a plain text area.
 */
import type { ActionSet } from '../../../planning/issuables/text/quick_action_words.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type FieldOptions, fieldParts } from './form.ts';
import { type Html, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

type EditorOptions = FieldOptions & {
  value?: string | null;
  rows?: number;
  placeholder?: string;
  required?: boolean;
  /** Keyboard shortcut that focuses the editor. */
  key?: string;
  /** Hides the label visually, for an editor whose heading says the same; screen readers still read it. */
  hasHiddenLabel?: boolean;
  /** Project in which the preview resolves references and relative links, and to which files are uploaded. */
  project?: Pick<Project, 'full_path'> | null;
  /** Quick actions that the text executes; default: none. */
  actions?: ActionSet | undefined;
};

/** Says what the text may contain. */
const supportedPart = (hasActions: boolean): Html =>
  html`<span class="hint end">${
    hasActions
      ? html`Markdown and <a href="/help/quick_actions">quick actions</a> are supported`
      : 'Markdown is supported'
  }</span>`;

/** The data that the script reads. */
const editorData = ({ project, actions }: Pick<EditorOptions, 'project' | 'actions'>): Html =>
  html`${project && html` data-project="${project.full_path}"`}${actions !== undefined && html` data-actions="${actions}"`}`;

/** The switch between text and preview. Its buttons need the script, so CSS hides them when scripting is off. */
const modeSwitch = (label: string): Html =>
  html`<span class="segmented needs-script" role="group" aria-label="${label}: write or preview"><button type="button" class="small" data-mode="write" aria-pressed="true">Write</button><button type="button" class="small" data-mode="preview" aria-pressed="false">Preview</button></span>`;

/** Formats of `client/editing/format_text.ts`: icon and name. */
const formats: [string, IconName, string][] = [
  ['bold', 'bold', 'Bold (Ctrl+B)'],
  ['italic', 'italic', 'Italic (Ctrl+I)'],
  ['strike', 'strike', 'Strikethrough'],
  ['heading', 'heading', 'Heading'],
  ['quote', 'quote', 'Quote'],
  ['code', 'code', 'Code'],
  ['link', 'link', 'Link'],
  ['list', 'list', 'List'],
  ['numbers', 'numbered-list', 'Numbered list'],
  ['tasks', 'todo', 'Task list'],
  ['table', 'table', 'Table'],
];

/** Buttons that format the selected text. They are one stop of the Tab key; arrow keys move between them. */
const toolbar = (label: string): Html =>
  html`<span class="format-buttons needs-script" role="toolbar" aria-label="${label}: format">${formats.map(
    ([format, image, name], at) =>
      html`<button type="button" class="small" data-format="${format}" title="${name}" aria-label="${name.replace(/ \(.*/, '')}"${at > 0 && html` tabindex="-1"`}>${icon(image)}</button>`,
  )}</span>`;

/** The button that uploads files. They may also be pasted into the text or dropped on it. */
const attachButton = (label: string): Html =>
  html`<button type="button" class="small needs-script" data-attach>Attach files</button><input type="file" multiple hidden aria-label="Attach files: ${label}">`;

/** Must be within a `form`. */
export const markdownEditor = (options: EditorOptions): Html => {
  const { name, label, value, rows = 8, placeholder, required = false, project = null, key } = options;
  const { id, attributes, hint, error } = fieldParts(options);
  const labelClass = options.hasHiddenLabel === true && html` class="visually-hidden"`;
  // Browsers drop the first newline after `<textarea>`: this one, so that none of the value is lost.
  return html`<div class="field markdown-editor"${editorData(options)}>
<div class="row between"><label for="${id}"${labelClass}>${label}</label>${modeSwitch(label)}${toolbar(label)}${supportedPart(options.actions !== undefined)}${project !== null && attachButton(label)}</div>${hint}
<textarea id="${id}" name="${name}" rows="${rows}"${placeholder !== undefined && html` placeholder="${placeholder}"`}${
    required && html` required`
  }${key !== undefined && html` data-key="${key}" data-key-name="${label}"`}${attributes}>
${value ?? ''}</textarea>
<div class="preview" role="region" aria-label="Preview" tabindex="0" hidden></div>
${error}</div>
`;
};

type ReplyEditorOptions = {
  name: string;
  id: string;
  label: string;
  value?: string | undefined;
  project: Pick<Project, 'full_path'>;
  actions?: ActionSet | undefined;
};

/**
 * Renders a reduced editor for replies, because a page has one per thread. The client script completes it from
 * `editorTemplate` when the user opens it.
 */
export const replyEditor = ({ name, id, label, value = '', ...options }: ReplyEditorOptions): Html =>
  html`<div class="field markdown-editor"${editorData(options)}><label class="visually-hidden" for="${id}">${label}</label><textarea id="${id}" name="${name}" rows="4" required>
${value}</textarea></div>`;

/** Template that the client script copies into each reply editor. */
export const editorTemplate = html`<template id="editor_template"><div class="row between">${modeSwitch('Text')}${toolbar('Text')}<span class="hint end">Markdown is supported</span>${attachButton('Text')}</div><div class="preview" role="region" aria-label="Preview" tabindex="0" hidden></div></template>`;

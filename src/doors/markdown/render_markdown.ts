/**
 * Renders Markdown as HTML for one viewer. Pages use `markdown` of `web/parts/markdown.ts`, which wraps this.
 *
 *   await renderMarkdown(call, issue.description ?? '', { project })                    // a text of a project
 *   await renderMarkdown(call, readme, { project, ref: 'main', path: 'docs/README.md' }) // a file of the repository
 *   await renderMarkdownTexts(call, notes.map(({ body }) => body), { project })          // all texts of a page at once
 *
 * The HTML is sanitized. References link to what the viewer may see; anything else stays text. A checkbox of a task
 * carries its line in `data-line`, counted from 0, as `toggleTask` of `planning/issuables/text/tasks.ts` takes it.
 */
import type { Call } from '../../core/access/call.ts';
import { getDiagramServer } from '../../core/settings/setting_effects.ts';
import { getImageKey } from '../image_proxy/image_key.ts';
import type { Project } from '../../projects/projects/find.ts';
import { type ConvertOptions, type Part, getRoot } from './convert/options.ts';
import { convertTexts } from './convert_cached.ts';
import { findReferences } from './convert/find_references.ts';
import { escapeHtml } from '../../platform/escape_html.ts';
import { resolveReferences } from './references/resolve_references.ts';
import { writeReference } from './references/write_reference.ts';

export type MarkdownContext = {
  /** Project of the text: references and relative links mean its records and files. The viewer must see it. */
  project?: Project | null;
  /** Branch, tag or commit for links into the repository; default: the default branch. */
  ref?: string;
  /** Path of the file that contains the text. */
  path?: string;
  /** True if links start with the URL of the instance, as API responses need. Default: with a slash. */
  isAbsolute?: boolean;
  /** False to leave references as text. Default: true. */
  hasReferences?: boolean;
};

const toOptions = (call: Call, context: MarkdownContext): ConvertOptions => {
  const { project = null, ref, path = null, isAbsolute = false, hasReferences = true } = context;
  return {
    project: project === null ? null : { id: project.id, full_path: project.full_path },
    ref: ref ?? project?.default_branch ?? null,
    path,
    baseUrl: call.baseUrl,
    isAbsolute,
    diagramServer: getDiagramServer(call.settings),
    imageKey: getImageKey(call.platform),
    hasReferences,
  };
};

/** Distinct references of plain texts that are resolved: they are read uncached, also for anonymous visitors. */
const maxPlainReferences = 50;

type FillOptions = ConvertOptions & { isPlain?: boolean };

/** Inserts references for this viewer. */
const fillReferences = async (
  call: Call,
  texts: readonly Part[][],
  { project = null }: MarkdownContext,
  options: FillOptions,
): Promise<string[]> => {
  const { isPlain = false } = options;
  const most = isPlain ? maxPlainReferences : undefined;
  const references = texts.flatMap((parts) => parts.filter((part) => typeof part !== 'string'));
  const targets = await resolveReferences(call, references, project, most);
  const context = { root: getRoot(options), project: project?.full_path ?? null, isPlain };
  const write = (part: Part): string => {
    if (typeof part === 'string') return part;
    const target = targets.get(part);
    return target === undefined ? part.plain : writeReference(part, target, context);
  };
  return texts.map((parts) => parts.map(write).join(''));
};

/** Renders several texts of one place. References of all are resolved together, with one query for each kind. */
export const renderMarkdownTexts = async (
  call: Call,
  texts: readonly string[],
  context: MarkdownContext = {},
): Promise<string[]> => {
  const options = toOptions(call, context);
  return await fillReferences(call, await convertTexts(call, texts, options), context, options);
};

/** Characters of the longest plain text in which references are found. */
const maxPlainCharacters = 64 * 1024;

/**
 * Renders plain texts of a project, such as the message of a commit, as escaped HTML in which references are links with
 * the text as it was written.
 * References of all are resolved together, with one query for each kind.
 */
export const renderPlainTexts = async (
  call: Call,
  texts: readonly string[],
  project: Project,
  isAbsolute = false,
): Promise<string[]> => {
  const context = { project, isAbsolute };
  const parts = texts.map((text) =>
    text.length > maxPlainCharacters ? [escapeHtml(text)] : findReferences(text),
  );
  return await fillReferences(call, parts, context, { ...toOptions(call, context), isPlain: true });
};

/** Renders one text. */
export const renderMarkdown = async (
  call: Call,
  text: string,
  context: MarkdownContext = {},
): Promise<string> => {
  const [html = ''] = await renderMarkdownTexts(call, [text], context);
  return html;
};

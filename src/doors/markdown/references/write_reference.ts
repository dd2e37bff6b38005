import type { Reference, ReferenceKind } from '../convert/options.ts';
import type { Target } from './reference_target.ts';

const marks: Record<string, string> = { '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '&': '&amp;' };
const escape = (text: string): string => text.replaceAll(/[<>"'&]/g, (mark) => marks[mark] ?? mark);

const kinds: Record<ReferenceKind, { class: string; mark: string }> = {
  Issue: { class: 'gfm-issue', mark: '#' },
  MergeRequest: { class: 'gfm-merge_request', mark: '!' },
  Snippet: { class: 'gfm-snippet', mark: '$' },
  User: { class: 'gfm-project_member', mark: '@' },
  Label: { class: 'gfm-label', mark: '~' },
  Milestone: { class: 'gfm-milestone', mark: '%' },
  Commit: { class: 'gfm-commit', mark: '@' },
};

/** Shortens the path of a project as seen from another one. */
const shortenProject = (path: string, from: string | null): string => {
  if (from === null) return path;
  if (path.toLowerCase() === from.toLowerCase()) return '';
  const namespace = from.slice(0, from.lastIndexOf('/') + 1);
  const rest = path.slice(namespace.length);
  return path.toLowerCase().startsWith(namespace.toLowerCase()) && !rest.includes('/') ? rest : path;
};

/** Returns the text of a link whose address was written. */
const toText = (
  { kind, project, name, shorten }: Reference,
  label: string | null,
  from: string | null,
): string => {
  const path = shortenProject(project, from);
  const comment = /^note_(\d+)$/.exec(shorten?.anchor ?? '')?.[1];
  const after = comment === undefined ? '' : ` (comment ${comment})`;
  if (kind === 'Commit') return `${path === '' ? '' : `${path}@`}${label ?? name}${after}`;
  if (kind === 'Milestone') return `${path}${label ?? name}`;
  return `${path}${kinds[kind].mark}${name}${after}`;
};

/** Location of a text. */
export type ReferenceContext = {
  /** Prefix of links. */
  root: string;
  /** Full path of the text's project; null: none. */
  project: string | null;
  /** Links have the text as it was written. */
  isPlain?: boolean;
};

/** Returns the HTML between the tags of the link. */
const toContent = (
  reference: Reference,
  { label }: Target,
  { project, isPlain = false }: ReferenceContext,
): string => {
  const { kind, plain } = reference;
  if (isPlain) return plain;
  if (reference.shorten !== null) return escape(toText(reference, label, project));
  if (kind === 'Label' || kind === 'Milestone') return escape(label ?? reference.name);
  if (kind !== 'Commit') return plain;
  return escape(`${reference.project === '' ? '' : `${reference.project}@`}${label ?? reference.name}`);
};

/** Writes the link of a resolved reference. */
export const writeReference = (reference: Reference, target: Target, context: ReferenceContext): string => {
  const anchor = reference.shorten?.anchor ?? '';
  const href = `${context.root}${target.path}${anchor === '' ? '' : `#${anchor}`}`;
  const title = target.title === '' ? '' : ` title="${escape(target.title)}"`;
  const color = target.color === undefined ? '' : ` data-color="${escape(target.color)}"`;
  const { class: name } = kinds[reference.kind];
  return `<a href="${escape(href)}" class="gfm ${name}"${title}${color}>${toContent(reference, target, context)}</a>`;
};

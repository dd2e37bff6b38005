/** What previews of links show of pages of projects, such as in a chat. */
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import { anonymous } from '../../../../core/access/viewer.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { View, Visit } from '../../page.ts';

const maxLength = 200;
/** Markdown beyond this is not in the first 200 characters of its text. */
const maxRead = 2_000;

/** Returns the start of a plain text, cut at a word. */
export const shorten = (text: string): string => {
  const plain = text.slice(0, maxRead).replaceAll(/\s+/g, ' ').trim();
  if (plain.length <= maxLength) return plain;
  const cut = plain.slice(0, maxLength);
  const end = cut.lastIndexOf(' ');
  return `${cut
    .slice(0, end > maxLength / 2 ? end : maxLength)
    .trimEnd()
    .toWellFormed()}…`;
};

/** Returns the start of a Markdown text without most of its marks, cut at a word. */
export const summarize = (text: string): string =>
  shorten(
    text
      .slice(0, maxRead)
      .replaceAll(/<!--[^]*?(?:-->|$)/g, ' ')
      .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/^[ \t]*(?:#{1,6}|[-*+>]|```\w*)[ \t]*/gm, '')
      .replaceAll(/[`*]|\*\*|~~/g, ''),
  );

type Given = {
  /** What visitors must be able to do in the project to see the page. */
  action: ProjectAction;
  /** Markdown that describes the page; the default is the description of the project. */
  text?: string | null;
  /** Search engines should not list the page, as where there is one for every commit. */
  isUnindexed?: boolean;
};

/** Returns the preview of a page; nothing if anonymous visitors may not see it. */
export const projectPreview = (
  { call }: Visit,
  project: Project,
  { action, text, isUnindexed = false }: Given,
): Pick<View, 'preview'> => {
  if (!may(anonymous, action, project)) return {};
  const texts = [summarize(text ?? ''), shorten(project.description ?? ''), project.full_path];
  return {
    preview: {
      description: texts.find((one) => one !== '') ?? '',
      image: uploadedAvatarUrl(call, 'project', project),
      isUnindexed,
    },
  };
};

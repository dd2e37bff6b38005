/** Builds the link preview of a project page, as chat programs show it. */
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import { anonymous } from '../../../../core/access/viewer.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { View, Visit } from '../../page.ts';
import { shortenMarkdown, shortenText } from '../shorten_text.ts';

type Options = {
  /** Permission that a visitor needs to see the page. */
  action: ProjectAction;
  /** Markdown that describes the page; the default is the description of the project. */
  text?: string | null;
  /** Asks search engines not to index the page; set for pages that exist once per commit. */
  noIndex?: boolean;
};

/** Returns the preview of a page; `{}` if anonymous visitors may not see it. */
export const projectLinkPreview = (
  { call }: Visit,
  project: Project,
  { action, text, noIndex = false }: Options,
): Pick<View, 'preview'> => {
  if (!may(anonymous, action, project)) return {};
  const texts = [shortenMarkdown(text ?? ''), shortenText(project.description ?? ''), project.full_path];
  return {
    preview: {
      description: texts.find((candidate) => candidate !== '') ?? '',
      image: uploadedAvatarUrl(call, 'project', project),
      noIndex,
    },
  };
};

/** The comments on a snippet of a project, with reactions to the snippet itself. */
import { basicUser, basicUsersById } from '../../../../identity/users/json.ts';
import { toLoadedSnippet } from '../../../../planning/snippet_notes/find.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { SnippetRow } from '../../../../projects/snippets/snippet_row.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import { commentForm } from '../../parts/timeline/comment_form.ts';
import { findTimelineRights, loadTimeline } from '../../parts/timeline/load_timeline.ts';
import { reactions } from '../../parts/timeline/reactions.ts';
import { timelinePart } from '../../parts/timeline/timeline.ts';

type CommentsOptions = {
  /** Address of the snippet. */
  path: string;
  /** Page of the comments; undefined: the last. */
  requested: number | undefined;
  /** Comment that was not accepted. */
  typed: string | undefined;
};

/** Renders the comments on a snippet, the oldest first. */
export const commentsPart = async (
  visit: Visit,
  project: Project,
  snippet: SnippetRow,
  { path, requested, typed }: CommentsOptions,
): Promise<Html | null> => {
  const { call } = visit;
  const loaded = toLoadedSnippet(project, snippet);
  const [timeline, authors] = await Promise.all([
    loadTimeline(visit, loaded, { description: null, requested, filter: 'all_notes', order: 'asc' }),
    basicUsersById(call.db, [snippet.author_id]),
  ]);
  const author = authors.get(snippet.author_id);
  if (author === undefined) return null;
  const rights = { ...findTimelineRights(visit, loaded), update: false };
  const context = {
    ...timeline,
    loaded,
    texts: { title: snippet.title, description: null },
    author: basicUser(author, call),
    created_at: snippet.created_at,
    rights,
    path: (below: string) => path + below,
    heading: 'Comments',
    pageParam: 'comments',
  };
  const reacted = reactions(visit, {
    action: rights.award ? `${path}/award_emoji` : null,
    awards: context.awards.target,
  });
  return html`${reacted}${timelinePart(visit, context, {
    after: commentForm(visit, context, {
      word: 'snippet',
      intent: null,
      ...(typed !== undefined && { typed }),
    }),
  })}`;
};

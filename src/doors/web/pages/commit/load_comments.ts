/** Loads the discussions on a commit, and sorts them to the lines of its diff. */
import { may } from '../../../../core/access/may.ts';
import type { CommitComment } from '../../../../code/repository/commits/comments.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import {
  commitDiscussionsJson,
  listCommitDiscussions,
} from '../../../../planning/discussions/commits/comments.ts';
import type { Commit, FileDiff } from '../../../../platform/git/protocol_types.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Visit } from '../../page.ts';
import { parseLines } from '../../parts/diff/parse_lines.ts';
import { keysOf } from '../../parts/diff/row_parts.ts';
import type { Html } from '../../parts/html.ts';
import { markdownTexts } from '../../parts/markdown.ts';

/** Discussions that are shown; the API has the rest. */
const shown = pageRequest({ per_page: 100 });

export type ShownComment = {
  id: number;
  author: { name: string; username: string; avatar_url: string | null };
  created_at: string;
  updated_at: string;
  content: Html;
  /** The viewer may edit and delete it. */
  mayAdmin: boolean;
};

export type ShownDiscussion = {
  id: string;
  place: Pick<CommitComment, 'path' | 'line' | 'line_type'>;
  comments: ShownComment[];
};

export type CommitComments = {
  discussions: ShownDiscussion[];
  /** Number of all discussions. */
  total: number;
  mayComment: boolean;
};

export const loadComments = async (
  { call }: Visit,
  { project }: Code,
  commit: Commit,
): Promise<CommitComments> => {
  const key = { project_id: project.id, sha: commit.id };
  const { items, total } = await listCommitDiscussions(call.db, key, shown);
  const discussions = await commitDiscussionsJson(call, items);
  const bodies = discussions.flatMap(({ notes }) => notes.map(({ body }) => body));
  const contents = await markdownTexts(call, bodies, { project });
  const stored = new Map(items.flatMap(({ comments }) => comments.map((one) => [one.id, one] as const)));
  let at = 0;
  return {
    discussions: discussions.flatMap(({ id, notes }, index): ShownDiscussion[] => {
      const comments = notes.map((note): ShownComment => {
        const row = stored.get(note.id);
        const mayAdmin = call.signedIn && row !== undefined && may(call.viewer, 'admin_note', project, row);
        return { ...note, content: contents[at++] as Html, mayAdmin };
      });
      const place = items[index]?.comments[0];
      return place === undefined || comments.length === 0 ? [] : [{ id, place, comments }];
    }),
    total,
    mayComment: call.signedIn && may(call.viewer, 'comment_on_commit', project),
  };
};

const isIn =
  ({ path, line_type }: ShownDiscussion['place']) =>
  ({ old_path, new_path }: FileDiff): boolean =>
    (line_type === 'old' ? old_path : new_path) === path;

export type PlacedComments = {
  /** The discussions on lines that the page shows, by file and line: `new_12`. */
  byFile: ReadonlyMap<FileDiff, ReadonlyMap<string, ShownDiscussion[]>>;
  /** All others. */
  rest: ShownDiscussion[];
};

/** Sorts discussions to the lines of files whose lines are shown. */
export const placeComments = (
  discussions: readonly ShownDiscussion[],
  files: readonly FileDiff[],
): PlacedComments => {
  const lines = new Map<FileDiff, Set<string>>();
  const byFile = new Map<FileDiff, Map<string, ShownDiscussion[]>>();
  const unplaced: ShownDiscussion[] = [];
  for (const discussion of discussions) {
    const { place } = discussion;
    const file = place.line === null ? undefined : files.find(isIn(place));
    const key = `${place.line_type ?? 'new'}_${place.line}`;
    const shownLines =
      file === undefined ? null : (lines.get(file) ?? new Set<string>(parseLines(file.diff).flatMap(keysOf)));
    if (file !== undefined && shownLines !== null) lines.set(file, shownLines);
    if (file === undefined || shownLines === null || !shownLines.has(key)) {
      unplaced.push(discussion);
      continue;
    }
    const own = byFile.get(file) ?? new Map<string, ShownDiscussion[]>();
    own.set(key, [...(own.get(key) ?? []), discussion]);
    byFile.set(file, own);
  }
  return { byFile, rest: unplaced };
};

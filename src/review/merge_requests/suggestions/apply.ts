/** Applies the suggestion of a comment as a commit to the source branch. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { type Failure, conflict, notFound } from '../../../platform/errors.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { openCode } from '../../../code/repository/find_code.ts';
import { commitFiles } from '../../../code/repository/commits/create.ts';
import { branchPrefix, findRef } from '../../../code/repository/refs/resolve.ts';
import { findDiscussion } from '../../../planning/discussions/queries.ts';
import { resolveNotes } from '../../../planning/discussions/resolve.ts';
import { mayResolve } from '../../../planning/discussions/resolve_and_reply_rules.ts';
import type { NoteRow } from '../../../planning/notes/note_row.ts';
import { parsePosition } from '../../../planning/notes/position.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { commentedMergeRequest as noun } from '../quick_actions.ts';
import { parseSuggestions } from './parse_suggestions.ts';
import { readTextFile, splitLines, suggestedLines } from './suggested_lines.ts';

const outdated = (): Failure =>
  conflict('The line was changed in a more recent version, so the suggestion cannot be applied.');

/** Loads the project of the source branch of an open merge request; null: there is none. */
export const findSource = async (
  { db }: Call,
  { merge_request: { state, source_project_id } }: LoadedMergeRequest,
): Promise<Project | null> =>
  state !== 'opened' || source_project_id === null ? null : await loadProject(db, source_project_id);

/** Keeps the line ends of the lines that are replaced. */
const withLineEnds = (text: string, replaced: string): string =>
  replaced.endsWith('\r\n') ? text.replaceAll('\n', '\r\n') : text;

/** Returns the file with the lines replaced. @throws Failure 409 if nothing would change */
const replaceLines = (text: string, [first, last]: [number, number], to: string): string => {
  const lines = splitLines(text);
  if (first > lines.length) throw outdated();
  const replaced = lines.slice(first - 1, last).join('');
  const isWhole = replaced.endsWith('\n');
  const fresh = withLineEnds(isWhole ? to : to.replace(/\n$/, ''), replaced);
  if (fresh === replaced) throw conflict('The lines are as suggested already.');
  lines.splice(first - 1, last - first + 1, fresh);
  return lines.join('');
};

const resolveThread = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { discussion_id }: NoteRow,
): Promise<void> => {
  if (discussion_id === null || !mayResolve(call, loaded)) return;
  const { notes } = await findDiscussion(call, loaded.target, discussion_id);
  await resolveNotes(noun, call, loaded, { notes, resolved: true });
};

/**
 * Commits the change that a comment suggests, and resolves its thread.
 * @param index which suggestion of the comment, from 0
 * @throws Failure 404 if the comment has no such suggestion, 409 if its lines have changed since, 403 without permission
 *   to push
 */
export const applySuggestion = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { note, index }: { note: NoteRow; index: number },
): Promise<Oid> => {
  requireUser(call);
  const suggestion = parseSuggestions(note.body).suggestions[index];
  const position = parsePosition(note.position);
  if (suggestion === undefined || position?.position_type !== 'text') throw notFound('Suggestion');
  const { head_sha: head, source_branch } = loaded.merge_request;
  const source = await findSource(call, loaded);
  if (position.new_line === null || position.head_sha !== head || source === null) throw outdated();
  const code = openCode(call, source);
  const branch = await findRef(code.repository, branchPrefix + source_branch);
  if (branch?.commit !== head) throw outdated();
  const { new_path: file_path } = position;
  const text = await readTextFile(call, source, head, file_path);
  if (text === null) throw outdated();
  const content = replaceLines(text, suggestedLines(position.new_line, suggestion), suggestion.to_content);
  const { commits } = await code.repository.ask('commits.list', {
    from: [head],
    path: file_path,
    skip: 0,
    limit: 1,
  });
  const id = await commitFiles(call, code, {
    branch: source_branch,
    message: `Apply 1 suggestion(s) to 1 file(s)`,
    actions: [
      {
        action: 'update',
        file_path,
        content: Buffer.from(content),
        // A change of the file in between is kept, and refuses this one.
        last_commit_id: commits[0]?.id ?? head,
      },
    ],
  });
  await resolveThread(call, loaded, note);
  return id;
};

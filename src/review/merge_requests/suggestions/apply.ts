/** Applies suggestions of comments as one commit to the source branch. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import { type Failure, conflict, forbidden, invalid, notFound } from '../../../platform/errors.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { type Code, openCode } from '../../../code/repository/find_code.ts';
import { commitFiles } from '../../../code/repository/commits/create.ts';
import type { FileAction } from '../../../code/repository/commits/file_actions.ts';
import { branchPrefix, findRef } from '../../../code/repository/refs/resolve.ts';
import { findDiscussion } from '../../../planning/discussions/queries.ts';
import { resolveNotes } from '../../../planning/discussions/resolve.ts';
import { mayResolve } from '../../../planning/discussions/resolve_and_reply_rules.ts';
import type { NoteRow } from '../../../planning/notes/note_row.ts';
import { loadApplied, storeApplied } from '../../../planning/notes/suggestions/applied_suggestions.ts';
import { parseNote } from '../../../planning/notes/suggestions/json.ts';
import { toSuggestionId } from '../../../planning/notes/suggestions/parse_suggestions.ts';
import {
  readTextFile,
  replaceText,
  splitLines,
  suggestedLines,
} from '../../../planning/notes/suggestions/suggested_lines.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { commentedMergeRequest as noun } from '../quick_actions.ts';
import { formatMessage } from './commit_message.ts';

/** A suggestion: a comment, and which of its suggestions, from 0. */
export type ChosenSuggestion = { note: NoteRow; index: number };

const outdated = (): Failure =>
  conflict('The line was changed in a more recent version, so the suggestion cannot be applied.');

/** Loads the project of the source branch of an open merge request; null if there is none. */
export const findSource = async (
  { db }: Call,
  { merge_request: { state, source_project_id }, project }: LoadedMergeRequest,
): Promise<Project | null> => {
  if (state !== 'opened' || source_project_id === null) return null;
  return source_project_id === project.id ? project : await loadProject(db, source_project_id);
};

type Replacement = { first: number; last: number; to: string };

/**
 * Returns the replacements by file.
 * @throws Failure 404 for a missing suggestion, 409 for a suggestion of an older version
 */
const groupByFile = (
  { merge_request }: LoadedMergeRequest,
  chosen: readonly ChosenSuggestion[],
): Map<string, Replacement[]> => {
  const files = new Map<string, Replacement[]>();
  for (const { note, index } of chosen) {
    const parsed = parseNote(note);
    const suggestion = parsed?.suggestions[index];
    if (parsed === null || suggestion === undefined) throw notFound('Suggestion');
    const { new_path, new_line, head_sha } = parsed.position;
    if (head_sha !== merge_request.head_sha) throw outdated();
    const [first, last] = suggestedLines(new_line, suggestion);
    const replacements = files.get(new_path) ?? [];
    replacements.push({ first, last, to: suggestion.to_content });
    files.set(new_path, replacements);
  }
  return files;
};

/** Returns the file with the lines replaced. @throws Failure 409 if nothing would change, or lines overlap */
const replaceLines = (text: string, replacements: readonly Replacement[]): string => {
  const lines = splitLines(text);
  let end = Infinity;
  for (const { first, last, to } of replacements.toSorted((a, b) => b.first - a.first)) {
    if (first > lines.length) throw outdated();
    if (last >= end) throw conflict('Suggestions are not applicable as their lines cannot overlap.');
    const fresh = replaceText(lines.slice(first - 1, last).join(''), to);
    if (fresh === null) throw conflict('The lines are as suggested already.');
    lines.splice(first - 1, last - first + 1, fresh);
    end = first;
  }
  return lines.join('');
};

const toAction = async (
  call: Call,
  { project, repository }: Code,
  head: Oid,
  [file_path, replacements]: [string, Replacement[]],
): Promise<FileAction> => {
  const text = await readTextFile(call, project, head, file_path);
  if (text === null) throw outdated();
  const content = replaceLines(text, replacements);
  const { commits } = await repository.ask('commits.list', {
    from: [head],
    path: file_path,
    skip: 0,
    limit: 1,
  });
  return {
    action: 'update',
    file_path,
    content: Buffer.from(content),
    // A change of the file in between is kept, and refuses this one.
    last_commit_id: commits[0]?.id ?? head,
  };
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

/** Opens the source branch. @throws Failure 403 without permission to push, 409 if it has moved or is gone */
const openSource = async (call: Call, loaded: LoadedMergeRequest, head: Oid): Promise<Code> => {
  const source = await findSource(call, loaded);
  if (!may(call.viewer, 'push_code', source ?? loaded.project)) throw forbidden();
  if (source === null) throw conflict('A suggestion is not applicable.');
  const code = openCode(call, source);
  const branch = await findRef(code.repository, branchPrefix + loaded.merge_request.source_branch);
  if (branch?.commit !== head) throw outdated();
  return code;
};

/** @throws Failure 409 if any was applied before */
const requireNotApplied = async ({ db }: Call, chosen: readonly ChosenSuggestion[]): Promise<void> => {
  const applied = await loadApplied(
    db,
    chosen.map(({ note }) => note.id),
  );
  if (chosen.some(({ note, index }) => applied.has(toSuggestionId(note.id, index)))) {
    throw conflict('A suggestion is not applicable.');
  }
};

/**
 * Commits the changes that comments suggest as one commit, and resolves their threads.
 * @param message message of the commit; may contain placeholders such as `%{suggestions_count}`
 * @throws Failure 404 if a comment has no such suggestion, 409 if its lines have changed since, overlap or are as
 *   suggested already, 403 without permission to push
 */
export const applySuggestions = async (
  call: Call,
  loaded: LoadedMergeRequest,
  chosen: readonly ChosenSuggestion[],
  message?: string,
): Promise<Oid> => {
  const user = requireUser(call);
  if (chosen.length === 0) throw invalid({ ids: ["can't be blank"] });
  const { head_sha, source_branch } = loaded.merge_request;
  const code = await openSource(call, loaded, head_sha ?? '');
  await requireNotApplied(call, chosen);
  const files = groupByFile(loaded, chosen);
  const actions: FileAction[] = [];
  for (const file of files) actions.push(await toAction(call, code, head_sha ?? '', file));
  const texts = [message, loaded.project.suggestion_commit_message];
  const template = texts.find((text) => (text ?? '').trim() !== '') ?? null;
  const about = { suggestions: chosen.length, files: [...files.keys()], branch: source_branch };
  const id = await commitFiles(call, code, {
    branch: source_branch,
    message: formatMessage(template, { ...about, project: code.project, user }),
    actions,
    refuse: outdated,
  });
  await call.write(async (tx) => {
    const rows = chosen.map(({ note, index }) => ({ note_id: note.id, position: index }));
    await storeApplied(tx, id, rows);
  });
  for (const { note } of chosen) await resolveThread(call, loaded, note);
  return id;
};

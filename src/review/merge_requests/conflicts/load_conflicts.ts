/** Loads the conflicts of a merge request for a page on which they are resolved. */
import { hash } from 'node:crypto';
import type { Call } from '../../../core/access/call.ts';
import { forbidden } from '../../../platform/errors.ts';
import type { ConflictKind, Oid } from '../../../platform/git/protocol_types.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { wouldReveal } from '../../../code/repository/forks/update_fork.ts';
import { loadProtectedBranches, mayPushTo } from '../../../code/repository/protection/rules.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { type Labels, type Segment, isOfRename, parseConflicts, renameLabels } from './conflict_text.ts';

/** Limits of what is resolved on a page. */
const maxFiles = 20;
const maxBytes = 256 * 1024;
const maxTotalBytes = 512 * 1024;
const maxHunks = 500;
/** Seconds for which a reader waits for git. */
const maxSeconds = 10;

/** A file whose conflicts can be resolved line by line. */
export type TextConflict = {
  path: string;
  kind: 'text';
  /** The whole text, its conflicts marked with the names of the branches. */
  text: string;
  /** null: only the whole text can be edited, because its lines look like marks or the conflicts are too many. */
  segments: Segment[] | null;
  /** Digest of the text: equal texts have equal conflicts. */
  key: string;
};

export type OtherConflict = { path: string; kind: Exclude<ConflictKind, 'text'> };

/** @property total of all files; `files` has the first of them */
export type Conflicts = { heads: ConflictHeads; files: (TextConflict | OtherConflict)[]; total: number };

/** The commits that are merged: of the source and of the target branch. */
export type ConflictHeads = { source_sha: Oid; target_sha: Oid };

/** Returns the names of both branches, by which the sides of a conflict are called. */
export const getLabels = ({
  merge_request: { source_branch, target_branch, source_project_id },
  project,
}: LoadedMergeRequest): Labels => ({
  ours: source_branch,
  // Both branches of a merge request from a fork may have one name.
  theirs:
    source_project_id !== project.id && source_branch === target_branch
      ? `target ${target_branch}`
      : target_branch,
});

/**
 * Loads the source project of an open request if the caller may push to its branch, and if the merge shows no commits
 * of the target project to users who cannot see them; null otherwise.
 */
export const findPushableSource = async (
  { db, viewer, signedIn }: Pick<Call, 'db' | 'viewer' | 'signedIn'>,
  { project, merge_request: { state, source_project_id: id, source_branch } }: LoadedMergeRequest,
): Promise<Project | null> => {
  if (!signedIn || state !== 'opened' || id === null) return null;
  const source = id === project.id ? project : await loadProject(db, id);
  if (source === null || source.archived === 1) return null;
  if (source.id !== project.id && wouldReveal(source, project)) return null;
  return mayPushTo(viewer, source, await loadProtectedBranches(db, source.id), source_branch) ? source : null;
};

/** @throws Failure 403 unless the caller may push to the source branch */
export const requirePushableSource = async (call: Call, loaded: LoadedMergeRequest): Promise<Project> => {
  const source = await findPushableSource(call, loaded);
  if (source === null) throw forbidden('You are not allowed to push into this branch');
  return source;
};

const toTextConflict = (
  path: string,
  marked: string,
  { from, to }: { from: Labels; to: Labels },
): TextConflict | OtherConflict => {
  if (isOfRename(marked, from)) return { path, kind: 'renamed' };
  // Browsers change such line ends.
  if (/\r(?!\n)/.test(marked)) return { path, kind: 'encoding' };
  const text = renameLabels(marked, from, to);
  const key = hash('sha256', text, 'hex').slice(0, 32);
  return { path, kind: 'text', text, segments: parseConflicts(marked, from), key };
};

export const countHunks = (segments: readonly Segment[]): number =>
  segments.filter(({ isConflict }) => isConflict).length;

/** Offers only the whole text of the files that are left once the form is full. */
const withinForm = (files: Conflicts['files']): Conflicts['files'] => {
  let hunks = 0;
  return files.map((file) => {
    if (file.kind !== 'text' || file.segments === null) return file;
    hunks += countHunks(file.segments);
    return hunks > maxHunks ? { ...file, segments: null } : file;
  });
};

/**
 * Loads the conflicts between the heads for which the request was checked (`withMergeStatus`).
 * @returns null if a branch is missing, or they merge
 * @throws GitFailure
 */
export const loadConflicts = async (
  { platform }: Pick<Call, 'platform'>,
  loaded: LoadedMergeRequest,
): Promise<Conflicts | null> => {
  const { checked_source_sha: ours, checked_target_sha: theirs } = loaded.merge_request;
  if (ours === null || theirs === null) return null;
  const { result, body } = await getRepository(platform, loaded.project).read(
    'merge.conflicts',
    { ours, theirs, max_files: maxFiles, max_bytes: maxBytes, max_total: maxTotalBytes },
    { seconds: maxSeconds },
  );
  if (result === null) return null;
  const labels = { from: { ours, theirs }, to: getLabels(loaded) };
  const files = result.files.map(({ path, kind, content }): TextConflict | OtherConflict => {
    if (kind !== 'text' || content === undefined) return { path, kind: kind === 'text' ? 'other' : kind };
    const { offset, length } = content;
    return toTextConflict(path, body.toString('utf8', offset, offset + length), labels);
  });
  return { heads: { source_sha: ours, target_sha: theirs }, files: withinForm(files), total: result.total };
};

/** Returns the files if all conflicts can be resolved on a page; null: some cannot. */
export const getTextConflicts = ({ files, total }: Conflicts): TextConflict[] | null => {
  const texts = files.filter((file) => file.kind === 'text');
  return texts.length === total && total > 0 ? texts : null;
};

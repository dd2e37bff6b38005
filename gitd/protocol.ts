/**
 * The protocol of a repository storage: every method with its parameters and result. `src/platform/git/` types its
 * calls by this file; `gitd/` implements it. The records in them are in `protocol_records.ts`. A repository is named by
 * its path below the storage's root (`@hashed/ab/cd/<sha256>.git`), never by text of a user. Object ids are 40
 * hexadecimal digits, refs full names (`refs/heads/main`), times whole seconds since 1970.
 */

import type {
  ActionProblem,
  AttributesFile,
  BlameRange,
  BodySlice,
  Client,
  Commit,
  CommitAction,
  CommitWalk,
  ConflictOfFile,
  Contributor,
  DiffLimits,
  DiffOptions,
  Divergence,
  FileDiff,
  LanguageBytes,
  Oid,
  Ref,
  RefUpdate,
  RefWalk,
  Sight,
  Signature,
  StorageState,
  TreeEntry,
} from './protocol_records.ts';

/** Raised with every incompatible change. Each side refuses another version. */
export const protocolVersion = 4;

type Repo = {
  repository: string;
  /** Refs were written to it before: if it is missing, the call fails with `unavailable` and does not create it. */
  written?: boolean;
  /** Absent: the service itself. */
  client?: Client;
};

/** Calls with one answer each. `body` carries raw bytes in addition to the JSON. */
/** Slots for git processes of a kind: how many there are and are taken, and how many callers wait for one. */
export type SlotCounts = { total: number; used: number; waiting: number };

export type StorageLoad = {
  slots: Record<'interactive' | 'transfer' | 'maintenance', SlotCounts>;
  /** Git processes that run, including the pooled ones, which take no slot. */
  processes: number;
};

export type Methods = {
  // the storage
  /** `space`: bytes of the disk of the storage; null: not known. It and `load` are absent from an earlier gitd. */
  'storage.hello': {
    params: { version: number };
    result: {
      version: number;
      git: string;
      pid: number;
      space?: { free: number; total: number } | null;
      load?: StorageLoad;
    };
  };
  /** Checks a storage at the start of a service. `repositories`: paths of repositories that should exist. */
  'storage.inspect': { params: { repositories: string[] }; result: StorageState };
  /** Marks the storage as owned by an instance: it then refuses all other instances. */
  'storage.claim': { params: { instance: string }; result: Record<string, never> };
  'repository.create': { params: Repo; result: { created: boolean } };
  'repository.exists': { params: Repo; result: { exists: boolean } };
  'repository.remove': { params: Repo; result: Record<string, never> };
  /** Creates a hard-linked copy within the storage. `refs`: prefixes of the refs to copy. */
  'repository.fork': {
    params: Repo & { source: string; source_written?: boolean; refs: string[] };
    result: Record<string, never>;
  };
  /** `size`: bytes on disk. */
  'repository.statistics': { params: Repo; result: { size: number; empty: boolean } };
  /** Copies a commit from another repository of the storage and keeps it by `ref`. Durable with the answer. */
  'repository.fetch_commit': {
    params: Repo & { source: string; commit: Oid; ref: string };
    result: Record<string, never>;
  };
  /** Problems reported by `git fsck`. For tests and the doctor. */
  'repository.check': { params: Repo; result: { problems: string[] } };
  /** Runs housekeeping immediately: repack, commit-graph, stale locks and packs. For tests and the doctor. */
  'repository.maintain': { params: Repo; result: { removed: string[] } };

  // refs
  'refs.list': { params: Repo & RefWalk; result: { refs: Ref[]; total: number } };
  /** Full names of the same refs, without reading objects. */
  'refs.names': { params: Repo & RefWalk; result: { names: string[]; total: number } };
  /** Targets of all refs, including internal refs. Body: a line `<oid> <name>` for each. */
  'refs.dump': { params: Repo; result: Record<string, never> };
  /** Sets the refs to exactly these. Body as of `refs.dump`. For a repository being restored. */
  'refs.restore': { params: Repo; result: Record<string, never> };
  'refs.get': { params: Repo & { names: string[] }; result: { refs: (Ref | null)[] } };
  /** Compares and sets all refs or none; durable with the answer. Error `conflict` if an old value differs. */
  'refs.update': { params: Repo & { updates: RefUpdate[] }; result: Record<string, never> };
  /** Resolves what a user entered: a full or short id, a branch, a tag, a full ref, or `HEAD` (= `default_ref`). */
  'revision.resolve': {
    params: Repo & Sight & { revision: string; default_ref?: string | null };
    result: { commit: Oid; ref: string | null } | null;
  };

  // reading
  'commits.get': { params: Repo & { ids: Oid[] }; result: { commits: (Commit | null)[] } };
  /** Commits by whole or short ids in lower case, in their order; null if none is visible to the caller. */
  'commits.find': { params: Repo & Sight & { ids: string[] }; result: { commits: (Commit | null)[] } };
  'commits.list': { params: Repo & CommitWalk; result: { commits: Commit[]; total: number | null } };
  /** The signature of a commit, with what it signs as body; null if it is not signed. */
  'commits.signature': { params: Repo & { id: Oid }; result: { signature: string } | null };
  /** The signature of an annotated tag, with what it signs as body; null if it is not signed, or no such tag. */
  'tags.signature': { params: Repo & { id: Oid }; result: { signature: string } | null };
  /** Reads an annotated tag by its id; null if that is no annotated tag. */
  'tags.get': { params: Repo & { id: Oid }; result: Pick<Ref, 'commit' | 'message' | 'tagger'> | null };
  /** Added and deleted lines of a commit against its first parent. */
  'commits.stats': { params: Repo & { id: Oid }; result: { additions: number; deletions: number } };
  /** Branches or tags whose history contains the commit. */
  'commits.refs': {
    params: Repo & { id: Oid; type: 'branch' | 'tag' | 'all' };
    result: { refs: { type: 'branch' | 'tag'; name: string }[] };
  };
  /** Which of these commits are in the history of `into`. */
  'commits.merged': { params: Repo & { into: Oid; ids: Oid[] }; result: { merged: boolean[] } };
  /**
   * Compares each commit with `base`; null if the time was too short, or the commit is missing. At most 100 ids.
   * `source`: another repository of the storage, which has `base`.
   */
  'commits.ahead_behind': {
    params: Repo & { base: Oid; ids: Oid[]; milliseconds: number; source?: string };
    result: { counts: (Divergence | null)[] };
  };
  'commits.merge_base': { params: Repo & { ids: Oid[] }; result: { id: Oid | null } };
  'commits.is_ancestor': { params: Repo & { ancestor: Oid; descendant: Oid }; result: { is: boolean } };
  /** Lists a folder; null if the path is not a folder of the commit. */
  'tree.list': {
    params: Repo & { commit: Oid; path: string; recursive: boolean; offset: number; limit: number };
    result: { entries: TreeEntry[]; total: number } | null;
  };
  /**
   * Finds the last commit that changed each of these entries of a folder; null if it is unknown. `isFinished`: the
   * walk ended within its time, so other answers will not find more.
   */
  'tree.last_commits': {
    params: Repo & { commit: Oid; path: string; names: string[]; milliseconds: number };
    result: { ids: (Oid | null)[]; commits: Commit[]; isFinished: boolean };
  };
  /** Paths of the text files of a commit with a line that has this text, ignoring case. */
  'tree.grep': { params: Repo & { commit: Oid; text: string }; result: { paths: string[] } };
  /**
   * Each `.gitattributes` of these folders that has at most `max_bytes`, at most `max_files` of them. Texts as body.
   * The first `read` folders were read, which are fewer once there are `max_files`.
   */
  'tree.attributes': {
    params: Repo & { commit: Oid; folders: string[]; max_files: number; max_bytes: number };
    result: { files: AttributesFile[]; read: number };
  };
  /** Languages of a commit's files, most bytes first, without code of others and documentation. */
  'tree.languages': { params: Repo & { commit: Oid }; result: { languages: LanguageBytes[] } };
  /** Returns the bytes as body, unless there are more than `max`; null: no such file. */
  'blob.at': {
    params: Repo & { commit: Oid; path: string; max: number };
    result: { id: Oid; size: number; mode: string; whole: boolean } | null;
  };
  'blob.get': {
    params: Repo & Sight & { id: Oid; max: number };
    result: { size: number; whole: boolean } | null;
  };
  /** Sizes of blobs in their order, null for an id that names no blob. At most 1,000 ids, of a diff that the caller may read. */
  'blob.sizes': { params: Repo & { ids: Oid[] }; result: { sizes: (number | null)[] } };
  /** Compares two tree-ishes (`from` null: the empty tree). `files`: the exact number, even if the list was cut. */
  'diff.files': {
    params: Repo & { from: Oid | null; to: Oid; limits: DiffLimits } & DiffOptions;
    result: { diffs: FileDiff[]; files: number; overflow: boolean };
  };
  /** Compares `to`, a commit of this repository, with `from`, a commit of `source` on the same storage. */
  'compare.across': {
    params: Repo & {
      source: string;
      from: Oid;
      to: Oid;
      straight: boolean;
      limits: DiffLimits;
      limit: number;
    } & DiffOptions;
    /** `base`: the commit that the diff starts at; a gitd of an earlier release leaves it out, and `files`. */
    result: { commits: Commit[]; base?: Oid | null; diffs: FileDiff[]; files?: number; overflow: boolean };
  };
  /** The diff as git writes it, for patches: body. */
  'diff.raw': { params: Repo & { from: Oid | null; to: Oid; max: number }; result: { whole: boolean } };
  /** Ranges of a file's lines with their commits; null: no such file. Content as body. */
  'blame.file': {
    params: Repo & { commit: Oid; path: string; range?: [number, number]; ignore_whitespace?: boolean };
    result: { ranges: BlameRange[]; commits: Commit[] } | null;
  };
  'contributors.list': { params: Repo & { commit: Oid }; result: { contributors: Contributor[] } };

  // making objects: no ref moves, and the same input makes the same ids
  'merge.check': {
    params: Repo & { ours: Oid; theirs: Oid };
    result: { clean: boolean; conflicts: string[] };
  };
  /** null: conflicts. Parents are `ours`, `theirs`. */
  'merge.commit': {
    params: Repo & { ours: Oid; theirs: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid } | null;
  };
  /**
   * The first `max_files` files that conflict, and the number of all; null: the commits merge. A text has at most
   * `max_bytes`, all together `max_total`. Texts as body.
   */
  'merge.conflicts': {
    params: Repo & { ours: Oid; theirs: Oid; max_files: number; max_bytes: number; max_total: number };
    result: { files: ConflictOfFile[]; total: number } | null;
  };
  /**
   * Commits a merge with these texts for the conflicting files. Contents are slices of the request's body. null if the
   * files are not exactly the conflicting files.
   */
  'merge.resolve': {
    params: Repo & {
      ours: Oid;
      theirs: Oid;
      files: { path: string; content: BodySlice }[];
      message: string;
      author: Signature;
      committer: Signature;
    };
    result: { id: Oid } | ActionProblem | null;
  };
  /** Creates one commit on the merge base with the head's tree. */
  'merge.squash': {
    params: Repo & { base: Oid; head: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid };
  };
  /** Replays the commits of `head` that `onto` lacks; null: conflicts. */
  'merge.rebase': {
    params: Repo & { onto: Oid; head: Oid; committer: Signature };
    result: { id: Oid } | null;
  };
  /** `empty`: the change is already there. */
  'commit.cherry_pick': {
    params: Repo & { commit: Oid; onto: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid } | 'conflict' | 'empty';
  };
  'commit.revert': {
    params: Repo & { commit: Oid; onto: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid } | 'conflict' | 'empty';
  };
  /** Commits file actions on `parent` (null: a first commit). Contents are slices of the request's body. */
  'commit.actions': {
    params: Repo & {
      parent: Oid | null;
      actions: CommitAction[];
      message: string;
      author: Signature;
      committer: Signature;
    };
    result: { id: Oid } | ActionProblem;
  };
  /** Creates an annotated tag object. */
  'tag.create': {
    params: Repo & { name: string; target: Oid; message: string; tagger: Signature };
    result: { id: Oid };
  };
};

export type Method = keyof Methods;

/** Calls that stream bytes, each on its own connection, so that the socket provides backpressure. */
export type Streams = {
  /** `info/refs`: the advertisement. */
  'transport.advertise': {
    params: Repo & {
      service: 'git-upload-pack' | 'git-receive-pack';
      protocol: 0 | 1 | 2;
      quota: Quota;
      head?: Head;
      hide_requests?: boolean;
      pipelines?: boolean;
    };
    result: Record<string, never>;
  };
  'transport.upload_pack': {
    params: Repo & {
      protocol: 0 | 1 | 2;
      stateless: boolean;
      head?: Head;
      /** The client may not see `refs/merge-requests/`. */
      hide_requests?: boolean;
      /** The client may see `refs/pipelines/`; only runners may. */
      pipelines?: boolean;
    };
    result: Record<string, never>;
  };
  /** gitd sends a `PushQuestion` before refs move, and a `PushNotice` afterwards. */
  'transport.receive_pack': {
    params: Repo & { protocol: 0 | 1 | 2; stateless: boolean; quota: Quota };
    result: Record<string, never>;
  };
  'archive.read': {
    params: Repo & {
      commit: Oid;
      format: 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';
      prefix: string;
      path?: string;
    };
    result: Record<string, never>;
  };
  'blob.read': {
    params: Repo & ({ commit: Oid; path: string } | { id: Oid });
    result: { id: Oid; size: number; mode: string } | null;
  };
  /** A pack of these commits without the history of `not`, for a repository of another storage. */
  'pack.read': { params: Repo & { commits: Oid[]; not: Oid[] }; result: Record<string, never> };
  /**
   * A pack of objects of any type and everything they need, without objects that `not` reaches. `missing`: tips that do
   * not exist.
   */
  'pack.dump': { params: Repo & { tips: Oid[]; not: Oid[] }; result: { missing: Oid[] } };
  /** Stores such a pack, checked like a push. `seconds`: limit of time; default: an hour. */
  'pack.write': { params: Repo & { seconds?: number }; result: Record<string, never> };
};

export type Stream = keyof Streams;

/** Full name of the default branch, which a clone checks out; null: none. */
export type Head = string | null;

export type Quota = {
  /** Maximum bytes of one push, packed; null: no limit. */
  push_bytes: number | null;
  /** Maximum bytes of one file; null: no limit. */
  file_bytes: number | null;
  /** Maximum bytes of the repository including a push; null: no limit. */
  repository_bytes: number | null;
};

export type PushedRef = {
  ref: string;
  old: Oid;
  new: Oid;
  /** The old commit is not in the new one's history. */
  forced: boolean;
};

/** Sent during pre-receive, with the new objects in quarantine. */
export type PushQuestion = {
  ask: 'push';
  updates: PushedRef[];
  push_options: string[];
  /** Bytes of the largest new file; 0 if no limit needs it. */
  largest_file: number;
  /** Bytes of the repository including the push; 0 if no limit needs it or there are no new objects. */
  repository_size: number;
};
/** `refuse`: lines shown to the pusher; nothing is stored. Null: the push is accepted. */
export type PushAnswer = { refuse: string[] | null };
/** Sent when the refs have moved and are durable, before the pusher gets the answer. */
export type PushNotice = { tell: 'pushed'; updates: PushedRef[] };
/** Lines shown to the pusher as `remote: ...`. */
export type PushNoticeAnswer = { messages: string[] };

/** Why a call failed; `message` is for logs and people who run the service. */
export type GitErrorKind =
  /** The repository does not exist. */
  | 'no_repository'
  /** A ref has another value than expected, or another change holds its lock. */
  | 'conflict'
  /** A parameter that no correct caller sends. */
  | 'invalid'
  /** An object that the call needs is missing. */
  | 'missing'
  /** A time limit was exceeded; another attempt may succeed. */
  | 'limit'
  /** Exceeds a fixed size limit; every attempt fails the same way. */
  | 'too_large'
  /** The storage is overloaded, starting, stopping, or gone. */
  | 'unavailable'
  | 'internal';

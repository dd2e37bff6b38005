/**
 * What a repository storage answers: every method with its parameters and its result. The service's `src/git/`
 * types its calls by this page, `gitd/` implements it. Nothing here runs but a few constants.
 *
 * A repository is named by its path below the storage's root (`@hashed/ab/cd/<sha256>.git`), never by a text of a
 * user. Oids are 40 hexadecimal digits, refs full names (`refs/heads/main`), times whole seconds since 1970.
 */

import type { StorageState } from './storage/marker.ts';

/** Rises with every change that an older peer would misread; both sides refuse another one's. */
export const protocolVersion = 2;

export const zeroOid = '0'.repeat(40);
/** The tree without entries, which every repository knows. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export type Oid = string;

export type Signature = {
  name: string;
  email: string;
  /** Seconds since 1970. */
  time: number;
  /** Of the author's clock: `+0100`. */
  offset: string;
};

export type Commit = {
  id: Oid;
  tree: Oid;
  parents: Oid[];
  author: Signature;
  committer: Signature;
  /** The whole text, made valid UTF-8. */
  message: string;
};

export type Ref = {
  name: string;
  /** What it points at: for an annotated tag, the tag object. */
  target: Oid;
  /** The commit behind it; null: it leads to none. */
  commit: Oid | null;
  /** Of an annotated tag. */
  message: string | null;
  tagger: Signature | null;
};

export type TreeEntry = {
  id: Oid;
  name: string;
  type: 'tree' | 'blob' | 'commit';
  /** From the root. */
  path: string;
  /** Six octal digits: `100644`. */
  mode: string;
};

/** One file of a diff, as the API's change has it. */
export type FileDiff = {
  old_path: string;
  new_path: string;
  /** Octal; `0` where the side does not exist. */
  a_mode: string;
  b_mode: string;
  old_id: Oid;
  new_id: Oid;
  new_file: boolean;
  renamed_file: boolean;
  deleted_file: boolean;
  binary: boolean;
  /** `--- a/x\n+++ b/x\n@@ ...`; empty for a pure rename, a change of mode, an empty file, and one too large. */
  diff: string;
  /** Its text passed the limit of one file. */
  too_large: boolean;
  additions: number;
  deletions: number;
};

export type DiffLimits = {
  files: number;
  lines: number;
  bytes: number;
  /** UTF-16 code units of one file's text. */
  file_bytes: number;
};

/** `bytes` of a file's content lie in the request's body, at this place. */
export type BodySlice = { offset: number; length: number };

export type CommitAction = {
  action: 'create' | 'update' | 'delete' | 'move' | 'chmod';
  file_path: string;
  previous_path?: string;
  /** create, update; move where the content changes, too. */
  content?: BodySlice;
  /** update, move, delete, chmod: the last commit of the path that the caller knows; another one refuses. */
  last_commit_id?: Oid;
  execute_filemode?: boolean;
};

/** Why an action cannot be done; the service says it in the API's words. */
export type ActionProblem = {
  problem:
    | 'exists'
    | 'missing'
    | 'is_directory'
    | 'invalid_path'
    | 'changed_meanwhile'
    | 'unchanged'
    | 'too_many';
  file_path: string;
};

export type RefUpdate = {
  ref: string;
  /** What it must be now: `zeroOid` = must not exist; null = whatever it is. */
  old: Oid | null;
  /** `zeroOid` deletes. */
  new: Oid;
};

/** A part of a walk along commits. */
export type CommitWalk = {
  /** Reachable from one of these ... */
  from: Oid[];
  /** ... and from none of these. */
  not?: Oid[];
  /** Only those that change this path (`''`: all). */
  path?: string;
  skip: number;
  limit: number;
  since?: number;
  until?: number;
  author?: string;
  first_parent?: boolean;
  order?: 'date' | 'topo';
  /** Whether the exact number of all is wanted. */
  count?: boolean;
};

export type BlameRange = { lines: [first: number, last: number]; commit: Oid };

export type Contributor = {
  name: string;
  email: string;
  commits: number;
  additions: number;
  deletions: number;
};

/** Which objects a caller may name by their ids. */
export type Sight = {
  /** Only those that a ref leads to which is for this one; default: any that the repository has. */
  reachable?: boolean;
  /** `refs/merge-requests/`, and what is kept of merge requests, is not for this one. */
  hide_requests?: boolean;
};

/** Whom a transfer serves: one client, and one address, get only a share of the places. */
export type Client = {
  /** `user 5`, `key 3`, or an address of nobody who is known. */
  name: string;
  /** Of IPv6, its network. */
  address: string;
};

type Repo = {
  repository: string;
  /** Refs were written to it before: where it is not there, the call fails as `unavailable`, and nothing makes it. */
  written?: boolean;
};

/** Calls with one answer. `body` says which way raw bytes travel beside the JSON. */
export type Methods = {
  // the storage
  'storage.hello': { params: { version: number }; result: { version: number; git: string; pid: number } };
  /** What the start of a service compares. `repositories`: paths of some that should be there. */
  'storage.inspect': { params: { repositories: string[] }; result: StorageState };
  /** Marks the storage as this instance's: only its services get an answer about repositories. */
  'storage.claim': { params: { instance: string }; result: Record<string, never> };
  'repository.create': { params: Repo; result: { created: boolean } };
  'repository.exists': { params: Repo; result: { exists: boolean } };
  'repository.remove': { params: Repo; result: Record<string, never> };
  /** A hard-linked copy within the storage, with its own objects. `refs` names prefixes that come along. */
  'repository.fork': {
    params: Repo & { source: string; source_written?: boolean; refs: string[] };
    result: Record<string, never>;
  };
  /** `size`: bytes on disk. */
  'repository.statistics': { params: Repo; result: { size: number; empty: boolean } };
  /** Objects of a commit from another repository of the same storage, kept by `ref`, which is then durable. */
  'repository.bring': {
    params: Repo & { source: string; commit: Oid; ref: string };
    result: Record<string, never>;
  };
  /** `git fsck`; its complaints. For tests and the doctor. */
  'repository.check': { params: Repo; result: { problems: string[] } };
  /** Housekeeping at once: repack, commit-graph, left-over locks and packs. For tests and the doctor. */
  'repository.maintain': { params: Repo; result: { removed: string[] } };

  // refs
  'refs.list': {
    params: Repo & {
      prefix: string;
      /** Only names with this in them (after the prefix), any case. */
      search?: string;
      /** `name`: ascending; `updated`: newest commit first. */
      sort: 'name' | 'updated';
      descending?: boolean;
      offset: number;
      limit: number;
    };
    result: { refs: Ref[]; total: number };
  };
  'refs.get': { params: Repo & { names: string[] }; result: { refs: (Ref | null)[] } };
  /** All or none, compared and set, durable with the answer. Error `conflict` where an old value is another. */
  'refs.update': { params: Repo & { updates: RefUpdate[] }; result: Record<string, never> };
  /** The commit that a user's text names: a full or short id, a branch, a tag, a full ref, `HEAD` = `default_ref`. */
  'revision.resolve': {
    params: Repo & Sight & { revision: string; default_ref?: string | null };
    result: { commit: Oid; ref: string | null } | null;
  };

  // reading
  'commits.get': { params: Repo & { ids: Oid[] }; result: { commits: (Commit | null)[] } };
  'commits.list': { params: Repo & CommitWalk; result: { commits: Commit[]; total: number | null } };
  /** Added and deleted lines of a commit against its first parent. */
  'commits.stats': { params: Repo & { id: Oid }; result: { additions: number; deletions: number } };
  /** Names of branches or tags whose history has the commit. */
  'commits.refs': {
    params: Repo & { id: Oid; type: 'branch' | 'tag' | 'all' };
    result: { refs: { type: 'branch' | 'tag'; name: string }[] };
  };
  /** Which of these are in the history of `into`. */
  'commits.merged': { params: Repo & { into: Oid; ids: Oid[] }; result: { merged: boolean[] } };
  'commits.merge_base': { params: Repo & { ids: Oid[] }; result: { id: Oid | null } };
  'commits.is_ancestor': { params: Repo & { ancestor: Oid; descendant: Oid }; result: { is: boolean } };
  /** null: the path is no folder of the commit. */
  'tree.list': {
    params: Repo & { commit: Oid; path: string; recursive: boolean; offset: number; limit: number };
    result: { entries: TreeEntry[]; total: number } | null;
  };
  /** Answers with the bytes as body, unless they are more than `max`; null: no file there. */
  'blob.at': {
    params: Repo & { commit: Oid; path: string; max: number };
    result: { id: Oid; size: number; mode: string; whole: boolean } | null;
  };
  'blob.get': {
    params: Repo & Sight & { id: Oid; max: number };
    result: { size: number; whole: boolean } | null;
  };
  /** From one tree-ish to another (`from` null: the empty tree). `files`: the exact number, whatever was cut. */
  'diff.files': {
    params: Repo & { from: Oid | null; to: Oid; limits: DiffLimits; paths?: string[] };
    result: { diffs: FileDiff[]; files: number; overflow: boolean };
  };
  /** What `to`, a commit of this repository, has that `from`, one of `source` on the same storage, has not. */
  'compare.across': {
    params: Repo & {
      source: string;
      from: Oid;
      to: Oid;
      straight: boolean;
      limits: DiffLimits;
      limit: number;
    };
    result: { commits: Commit[]; diffs: FileDiff[]; overflow: boolean };
  };
  /** The last lines as git wrote them, for `/raw_diffs`-like answers and patches: body. */
  'diff.raw': { params: Repo & { from: Oid | null; to: Oid; max: number }; result: { whole: boolean } };
  /** The ranges of a file's lines with the commits they come of; null: no file there. Content as body. */
  'blame.file': {
    params: Repo & { commit: Oid; path: string; range?: [number, number] };
    result: { ranges: BlameRange[]; commits: Commit[] } | null;
  };
  'contributors.list': { params: Repo & { commit: Oid }; result: { contributors: Contributor[] } };

  // making objects: nothing moves a ref, and the same input makes the same ids
  'merge.check': {
    params: Repo & { ours: Oid; theirs: Oid };
    result: { clean: boolean; conflicts: string[] };
  };
  /** null: conflicts. Parents are `ours`, `theirs`. */
  'merge.commit': {
    params: Repo & { ours: Oid; theirs: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid } | null;
  };
  /** One commit on the merge base with the head's tree. */
  'merge.squash': {
    params: Repo & { base: Oid; head: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid };
  };
  /** The commits of `head` that `onto` lacks, put on it one by one; null: conflicts. */
  'merge.rebase': {
    params: Repo & { onto: Oid; head: Oid; committer: Signature };
    result: { id: Oid } | null;
  };
  /** `empty`: it changes nothing there any more. */
  'commit.cherry_pick': {
    params: Repo & { commit: Oid; onto: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid } | 'conflict' | 'empty';
  };
  'commit.revert': {
    params: Repo & { commit: Oid; onto: Oid; message: string; author: Signature; committer: Signature };
    result: { id: Oid } | 'conflict' | 'empty';
  };
  /** A commit of file actions on `parent` (null: a first commit). Contents are slices of the request's body. */
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
  /** An annotated tag object. */
  'tag.create': {
    params: Repo & { name: string; target: Oid; message: string; tagger: Signature };
    result: { id: Oid };
  };
};

export type Method = keyof Methods;

/** Calls that carry bytes while they last, each on a connection of its own, so that the socket slows the sender. */
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
      /** `refs/merge-requests/` is not for this one. */
      hide_requests?: boolean;
      /** `refs/pipelines/` is for this one: for nobody else. */
      pipelines?: boolean;
      client?: Client;
    };
    result: Record<string, never>;
  };
  /** The service is asked (`AskPush`) before refs move, and told (`TellPush`) once they have. */
  'transport.receive_pack': {
    params: Repo & { protocol: 0 | 1 | 2; stateless: boolean; quota: Quota; client?: Client };
    result: Record<string, never>;
  };
  'archive.read': {
    params: Repo & {
      commit: Oid;
      format: 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';
      prefix: string;
      path?: string;
      client?: Client;
    };
    result: Record<string, never>;
  };
  'blob.read': {
    params: Repo & ({ commit: Oid; path: string } | { id: Oid }) & { client?: Client };
    result: { id: Oid; size: number; mode: string } | null;
  };
  /** A pack of these commits without those of `not`, for a repository of another storage. */
  'pack.read': { params: Repo & { commits: Oid[]; not: Oid[] }; result: Record<string, never> };
  /** Takes such a pack, checked as a push is. */
  'pack.write': { params: Repo; result: Record<string, never> };
};

export type Stream = keyof Streams;

/** The full name of the default branch, as the service knows it, that a clone checks out; null: there is none. */
export type Head = string | null;

export type Quota = {
  /** Bytes that one push may send, packed; null: no limit. */
  push_bytes: number | null;
  /** Bytes of one file; null: no limit. */
  file_bytes: number | null;
  /** Bytes of the repository, with what a push brings; null: no limit. */
  repository_bytes: number | null;
};

export type PushedRef = {
  ref: string;
  old: Oid;
  new: Oid;
  /** The old commit is not in the new one's history. */
  forced: boolean;
};

/** Asked from within pre-receive, the new objects in quarantine. */
export type AskPush = {
  ask: 'push';
  updates: PushedRef[];
  push_options: string[];
  /** Bytes of the largest file that it brings; 0 where no limit asks for it. */
  largest_file: number;
  /** Bytes of the repository with what it brings; 0 where no limit asks for it, or it brings nothing. */
  repository_size: number;
};
/** `refuse`: shown to the pusher, nothing is stored. */
export type AnswerPush = { refuse: string[] | null };
/** Told after the refs moved and are durable, before the pusher is answered. */
export type TellPush = { tell: 'pushed'; updates: PushedRef[] };
/** Lines the pusher reads as `remote: ...`. */
export type AnswerTold = { messages: string[] };

/** Why a call failed; `message` is for logs and people who run the service. */
export type GitErrorKind =
  /** The repository does not exist. */
  | 'no_repository'
  /** A ref is not what the caller thought, or another change holds it. */
  | 'conflict'
  /** A parameter that no caller of good will sends. */
  | 'invalid'
  /** An object that the call needs is missing. */
  | 'missing'
  /** Took longer than it may; another attempt may succeed. */
  | 'limit'
  /** Exceeds a fixed size limit; every attempt fails the same way. */
  | 'too_large'
  /** The storage has too much to do, or is starting, stopping, or gone. */
  | 'unavailable'
  | 'internal';

/** Records of the protocol of a repository storage: commits, refs, differences, and what requests and answers share. */

export const zeroOid = '0'.repeat(40);
/** The empty tree, which git knows in every repository. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export type Oid = string;

export type Signature = {
  name: string;
  email: string;
  /** Seconds since 1970. */
  time: number;
  /** UTC offset of the author's clock: `+0100`. */
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
  /** It has a signature. Absent: it has none, or the storage does not tell. */
  signed?: true;
};

export type Ref = {
  name: string;
  /** Id of its target: for an annotated tag, the tag object. */
  target: Oid;
  /** Commit that it points to; null if there is none. */
  commit: Oid | null;
  /** Message of an annotated tag; null for other refs. */
  message: string | null;
  tagger: Signature | null;
};

export type TreeEntry = {
  id: Oid;
  name: string;
  type: 'tree' | 'blob' | 'commit';
  /** Path from the root. */
  path: string;
  /** Six octal digits: `100644`. */
  mode: string;
};

/** One file of a diff, as the API returns it. */
export type FileDiff = {
  old_path: string;
  new_path: string;
  /** Octal; `0` if the side does not exist. */
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
  /** True if its text exceeded the limit of one file. */
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

export type DiffOptions = {
  /** Only these paths. */
  paths?: string[];
  /** Lines that differ in white space only count as equal. */
  ignore_whitespace?: boolean;
};

/** Position of a file's content in the request's body. */
export type BodySlice = { offset: number; length: number };

/** A `.gitattributes`. @property folder path of its folder; '' for the root */
export type AttributesFile = { folder: string; id: Oid; content: BodySlice };

/** Why a file conflicts. Only `text` can be resolved line by line. */
export type ConflictKind =
  | 'text'
  | 'binary'
  /** Deleted on one side, changed on the other. */
  | 'deleted'
  | 'renamed'
  /** A link, or a file whose type differs. */
  | 'mode'
  | 'submodule'
  /** The text or its name is not UTF-8. */
  | 'encoding'
  | 'too_large'
  | 'other';

/** @property content the text with conflict marks, whose labels are both commits; for `text` only */
export type ConflictOfFile = { path: string; kind: ConflictKind; content?: BodySlice };

export type CommitAction = {
  action: 'create' | 'update' | 'delete' | 'move' | 'chmod';
  file_path: string;
  previous_path?: string;
  /** For create and update, and for a move that changes the content. */
  content?: BodySlice;
  /**
   * For update, move, delete, chmod: the last commit of the path that the caller knows. The action fails if it is
   * outdated.
   */
  last_commit_id?: Oid;
  execute_filemode?: boolean;
};

/** Why an action failed; the service turns it into the API's message. */
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
  /** Expected value: `zeroOid`: must not exist; null: any. */
  old: Oid | null;
  /** `zeroOid` deletes. */
  new: Oid;
};

/** A page of refs below a prefix. */
export type RefWalk = {
  prefix: string;
  /** Only names that contain this after the prefix, ignoring case. */
  search?: string;
  /** `name`: ascending; `updated`: newest commit first. */
  sort: 'name' | 'updated';
  descending?: boolean;
  /** Only refs whose commit is of this second or later ... */
  since?: number;
  /** ... and earlier than this second. */
  before?: number;
  offset: number;
  limit: number;
};

export type CommitWalk = {
  /** Commits reachable from any of these ... */
  from: Oid[];
  /** ... and from none of these. */
  not?: Oid[];
  /** Only commits that change this path (`''`: all). */
  path?: string;
  skip: number;
  limit: number;
  since?: number;
  until?: number;
  author?: string;
  /** Only commits whose message contains this, ignoring case. */
  search?: string;
  first_parent?: boolean;
  order?: 'date' | 'topo';
  /** True to return the exact total. */
  count?: boolean;
};

/** Commits of one history that another one lacks, on both sides. */
export type Divergence = { ahead: number; behind: number };

export type BlameRange = { lines: [first: number, last: number]; commit: Oid };

export type Contributor = {
  name: string;
  email: string;
  commits: number;
  additions: number;
  deletions: number;
};

/** Bytes of the files in one language. */
export type LanguageBytes = { name: string; bytes: number };

/** Objects that a caller may read by id. */
export type Sight = {
  /** Only objects reachable from refs the caller may see; default: any object. */
  reachable?: boolean;
  /** The caller may not see `refs/merge-requests/` nor commits kept for merge requests. */
  hide_requests?: boolean;
};

/** The client of a call or transfer: each client gets only a share of the slots. */
export type Client = {
  /** `user 5`, `key 3`, or the address of an anonymous client. */
  name: string;
  /** Network address for IPv6. */
  address: string;
};

/** The contents of a storage's folder before it is claimed. */
export type StorageState = {
  /** Id of the instance that owns it; null if it has no marker. */
  instance: string | null;
  isEmpty: boolean;
  /** Number of repositories of the request that it contains. */
  held: number;
};

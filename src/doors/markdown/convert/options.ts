/** Inputs of a conversion, in addition to the text. Plain values, which can be sent to a worker thread. */
export type ConvertOptions = {
  /** The text belongs to this project; null: to none. */
  project: { id: number; full_path: string } | null;
  /** Branch, tag or commit that relative links refer to; null: the default branch. */
  ref: string | null;
  /** Path of the file that contains the text; null if it is not a file of the repository. */
  path: string | null;
  /** Address of this instance, without a slash at its end. */
  baseUrl: string;
  /** True if links of the instance start with its URL instead of a slash. */
  isAbsolute: boolean;
  diagramServer: string | null;
  /** Signs the addresses of images of other sites; null: they are links. */
  imageKey: string | null;
  /** True to find references such as `#1` and `@user`. */
  hasReferences: boolean;
};

/** The kinds of records that a text can refer to. */
export type ReferenceKind = 'Issue' | 'MergeRequest' | 'Snippet' | 'User' | 'Label' | 'Milestone' | 'Commit';

/** A possible reference in a text. Whether its target exists is not known yet. */
export type Reference = {
  kind: ReferenceKind;
  /** Path of the target's project as written; '': the project of the text. */
  project: string;
  /** Number, name, title or commit id. */
  name: string;
  /** True if the name was quoted, so that it is not a number. */
  isQuoted: boolean;
  /** Shown instead of the text as written, because an address was written; null: the text. */
  shorten: { anchor: string } | null;
  /** HTML that is shown if the target is missing or hidden from the viewer. */
  plain: string;
};

/** A converted text: HTML and references in turn. */
export type Part = string | Reference;

/** Values of one conversion, which the rules of the parser read and write. */
export type Environment = {
  /** Marks the checkboxes that this conversion writes, so that none can be forged by markup of the text. */
  nonce: string;
  /** Distinguishes the footnotes of several texts on one page. */
  docId: string;
  /** Address of the diagram server; null: diagrams are shown as code. */
  diagramServer: string | null;
  [key: string | symbol]: unknown;
};

/** Returns what links of the instance start with. */
export const getRoot = ({ baseUrl, isAbsolute }: ConvertOptions): string =>
  isAbsolute ? baseUrl : (URL.parse(baseUrl)?.pathname.replace(/\/$/, '') ?? '');

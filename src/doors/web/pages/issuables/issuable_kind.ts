/** Properties of issues, merge requests or snippets that pages of comments, tasks and subscriptions need. */
import type { Call } from '../../../../core/access/call.ts';
import type {
  LoadedNoteable,
  LoadedTarget,
  NounActions,
  Noun,
} from '../../../../planning/issuables/target.ts';
import { id } from '../../../../platform/http/schema.ts';
import type { View, Visit } from '../../page.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import type { Html } from '../../parts/html.ts';
import type { Texts } from '../../parts/timeline/edit_conflicts.ts';

/** Parameters of the pages of one record. */
export const recordParams = { ...projectPath, iid: id() };

export type ShownWith = {
  /** Page of the timeline; undefined: the last. */
  page?: number | undefined;
  /** Problems of a refused form. */
  alert?: string;
  /** Comment that was not accepted. */
  typed?: string;
};

/** Properties of a kind of record that pages of comments need. */
export type CommentedKind<Loaded extends LoadedNoteable> = {
  noun: NounActions<Loaded>;
  /** The same noun, which executes quick actions. */
  commented: NounActions<Loaded>;
  /** Prefix of the number of a record in texts: `#`. */
  sign: string;
  /** Route of its list: `/-/projects/:project/issues`; its other routes are below. */
  routePath: string;
  /** Loads a record; 404 if the caller may not see it. */
  find: (call: Call, project: string, iid: number) => Promise<Loaded>;
  /** Returns an address of the record. @param below what follows: `/edit` */
  path: (loaded: Loaded, below?: string) => string;
  /** The page of the record. */
  view: (visit: Visit, loaded: Loaded, shownWith: ShownWith) => Promise<View>;
  /** A page about a part of the record, such as one comment. */
  partView: (visit: Visit, loaded: Loaded, title: string, content: Html) => View;
  /** Absent: the records are never closed. */
  close?: (call: Call, loaded: Loaded, intent: 'close' | 'reopen') => Promise<void>;
};

export type IssuableKind<Loaded extends LoadedTarget> = CommentedKind<Loaded> & {
  noun: Noun;
  commented: Noun;
  texts: (loaded: Loaded) => Texts;
  close: (call: Call, loaded: Loaded, intent: 'close' | 'reopen') => Promise<void>;
  /** Replaces the description. @param check called with the locked record */
  describe: (
    call: Call,
    loaded: Loaded,
    description: string,
    check: (locked: Loaded) => void,
  ) => Promise<void>;
};

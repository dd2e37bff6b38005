/** The page of a list of issues or merge requests: tabs of states, filter bar, rows and links to the other pages. */
import { type Redirect, type View, type Visit, redirect, withRefusal } from '../../../page.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { bulkMenu } from '../bulk/bulk_form.ts';
import { type Bar, type RefusedFilter, filterBar } from './filter_bar.ts';
import { addressOf, chipQuery } from './filter_chips.ts';
import { formatsMenu } from './formats_menu.ts';
import {
  type ListTexts,
  type ParsedQuery,
  type StateTab,
  emptyPart,
  listCard,
  listSummary,
  newButton,
  stateTabs,
} from './list_parts.ts';
import type { AnyListScope } from './list_scope.ts';
import { mergeChips, readTyped } from './parse_typed_filter.ts';
import { type Language, byProject } from './typed_terms.ts';
import { viewsMenu } from './views_menu.ts';

/** Properties of issues or merge requests that the page needs. */
export type ListedKind<State extends string> = {
  noun: 'issues' | 'merge_requests';
  /** Prefix of the number of a record: `#`. */
  sign: '#' | '!';
  /** Heading of the page: `Issues`. */
  title: string;
  texts: ListTexts<State>;
  language: Language<State>;
  bar: Pick<Bar, 'placeholder' | 'fields' | 'orders'>;
};

/** Returns the terms of a list; lists over several projects can be filtered by project. */
const languageOf = <State extends string>(
  { language }: Pick<ListedKind<State>, 'language'>,
  { project }: Pick<AnyListScope, 'project'>,
): Language<State> =>
  project === null ? { ...language, terms: { ...language.terms, project: byProject } } : language;

/**
 * Handles the text typed into the box: redirects to a record by its number, or to the list with more filters. Otherwise
 * returns the problems of the text, or of the filters in the URL.
 */
export const answerTyped = <State extends string>(
  { call }: Visit,
  { path, project }: Pick<AnyListScope, 'path' | 'project'>,
  kind: Pick<ListedKind<State>, 'noun' | 'sign' | 'language'>,
  { query, typed: text }: { query: ParsedQuery<State>; typed: string | null },
): Redirect | RefusedFilter => {
  if (text === null) return { text: '', problems: query.problems };
  const { noun, sign } = kind;
  const [, mark, number] = /^\s*([#!])(\d{1,9})\s*$/.exec(text) ?? [];
  if (mark === sign && project !== null) return redirect(`${projectPagePath(project, noun)}/${number}`);
  const typist = { me: call.actor?.user.username ?? null, now: call.now };
  const typed = readTyped(text, typist, languageOf(kind, { project }));
  if (typed.problems.length > 0) return { text, problems: [...query.problems, ...typed.problems] };
  const state = typed.state ?? query.state;
  const filters = {
    ...query.otherParams,
    state: state === 'opened' ? undefined : state,
    ...chipQuery(mergeChips(query.chips, typed.chips)),
  };
  return redirect(addressOf(path, filters));
};

type Listed<State extends string> = {
  query: ParsedQuery<State>;
  rows: readonly Html[];
  total: number;
  tabs: readonly StateTab<State>[];
  /** Typed text that cannot be used. */
  typed: RefusedFilter;
  /** A link next to the button for a new record. */
  link?: Html | null;
};

const cardOf = <State extends string>(
  visit: Visit,
  list: AnyListScope,
  { noun, title, texts }: ListedKind<State>,
  { query, rows, total }: Listed<State>,
): Html => {
  if (rows.length === 0)
    return html`<section class="card" aria-label="${title}">${emptyPart(list, query, { words: texts, total })}</section>`;
  const bulk = visit.call.signedIn
    ? bulkMenu(visit, { scope: list.scope, segment: noun, back: visit.path })
    : null;
  return listCard({
    name: title,
    summary: listSummary(query, texts, { shown: rows.length, total }),
    rows,
    formats: formatsMenu(visit, list.formats, filteredBy(query)),
    bulk,
  });
};

const filteredBy = <State extends string>({ otherParams, chips }: ParsedQuery<State>) => ({
  ...otherParams,
  ...chipQuery(chips),
});

/** Adds the filter that lists of several projects have. */
const withProjectField = (bar: ListedKind<string>['bar']): ListedKind<string>['bar'] => ({
  ...bar,
  fields: [{ name: 'project_path', label: 'Project', hint: 'Path', suggests: 'projects' }, ...bar.fields],
});

/** Renders the page of a list. */
export const listView = async <State extends string>(
  visit: Visit,
  list: AnyListScope,
  kind: ListedKind<State>,
  listed: Listed<State>,
): Promise<View> => {
  const { path, newPath, wholeScope: scope = list.scope } = list;
  const { noun, title, texts } = kind;
  const bar = list.project === null ? withProjectField(kind.bar) : kind.bar;
  const language = languageOf(kind, list);
  const { query, total, tabs, link = null, typed } = listed;
  const { chips, otherParams, order, page } = query;
  const filtered = filteredBy(query);
  const views = await viewsMenu(visit, { scope, kind: noun, path, query: filtered });
  const view = list.view(
    title,
    html`<h1 class="visually-hidden">${title}</h1>
<div class="row between">${stateTabs(path, query, { words: texts, tabs })}<div class="row">${link}${newPath !== null && newButton(newPath, texts.one)}</div></div>
${filterBar({ ...bar, language, scope, words: texts.many, path, chips, otherParams, typed }, order, views)}
${cardOf(visit, list, kind, listed)}
${pagesNav({ path, query: filtered, page, total })}`,
  );
  return withRefusal(view, typed.problems.length > 0);
};

/** The page of a list of issues or merge requests: tabs of states, filter bar, rows and links to the other pages. */
import type { View, Visit } from '../../../page.ts';
import { projectPagePath } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { bulkMenu } from '../bulk/bulk_form.ts';
import { type Bar, filterBar } from './filter_bar.ts';
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
import { type Language, byProject, mergeChips, readTyped } from './parse_typed_filter.ts';
import { viewsMenu } from './views_menu.ts';

/** What the page needs to know of issues or merge requests. */
export type ListedKind<State extends string> = {
  noun: 'issues' | 'merge_requests';
  /** What precedes the number of a record: `#`. */
  sign: '#' | '!';
  /** Heading of the page: `Issues`. */
  title: string;
  texts: ListTexts<State>;
  language: Language<State>;
  bar: Pick<Bar, 'placeholder' | 'fields' | 'orders'>;
};

/** Returns the terms of a list; those of several projects can be filtered by one of them. */
const languageOf = <State extends string>(
  { language }: Pick<ListedKind<State>, 'language'>,
  { project }: Pick<AnyListScope, 'project'>,
): Language<State> =>
  project === null ? { ...language, terms: { ...language.terms, project: byProject } } : language;

/** Returns the address for the typed text: of a record by its number, or of the list with more filters. */
export const typedAddress = <State extends string>(
  { call }: Visit,
  { path, project }: Pick<AnyListScope, 'path' | 'project'>,
  kind: Pick<ListedKind<State>, 'noun' | 'sign' | 'language'>,
  { query, typed: text }: { query: ParsedQuery<State>; typed: string },
): string => {
  const { noun, sign } = kind;
  const [, mark, number] = /^\s*([#!])(\d{1,9})\s*$/.exec(text) ?? [];
  if (mark === sign && project !== null) return `${projectPagePath(project, noun)}/${number}`;
  const typed = readTyped(text, call.actor?.user.username ?? null, languageOf(kind, { project }));
  const state = typed.state ?? query.state;
  return addressOf(path, {
    ...query.otherParams,
    state: state === 'opened' ? undefined : state,
    ...chipQuery(mergeChips(query.chips, typed.chips)),
  });
};

type Listed<State extends string> = {
  query: ParsedQuery<State>;
  rows: readonly Html[];
  total: number;
  tabs: readonly StateTab<State>[];
  /** A link beside the button for a new record. */
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
  const { query, total, tabs, link = null } = listed;
  const { chips, otherParams, order, page } = query;
  const filtered = filteredBy(query);
  const views = await viewsMenu(visit, { scope, kind: noun, path, query: filtered });
  return list.view(
    title,
    html`<h1 class="visually-hidden">${title}</h1>
<div class="row between">${stateTabs(path, query, { words: texts, tabs })}<div class="row">${link}${newPath !== null && newButton(newPath, texts.one)}</div></div>
${filterBar({ ...bar, language, scope, words: texts.many, path, chips, otherParams }, order, views)}
${cardOf(visit, list, kind, listed)}
${pagesNav({ path, query: filtered, page, total })}`,
  );
};

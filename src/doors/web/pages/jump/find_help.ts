/** Finds topics of help, and sections in them, for the command palette. */
import { toSlug } from '../../../markdown/convert/headings.ts';
import { idPrefix } from '../../../markdown/convert/resolve_urls.ts';
import { readTopic } from '../help/read_topic.ts';
import { type Topic, topicGroups } from '../help/topics.ts';
import type { Match, MatchGroup } from './find_records.ts';

const maxMatches = 5;

type Entry = Match & { words: string };

let entries: Entry[] | undefined;

/** Lists the sections of a topic. Lines of code do not begin with two number signs. */
const listSections = (topic: Topic): Entry[] =>
  [...readTopic(topic).markdown.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading = '']) => {
    const title = heading.replaceAll('`', '');
    const path = `/help/${topic.name}#${idPrefix}${toSlug(title)}`;
    return { path, text: title, icon: 'book', hint: topic.title, words: title.toLowerCase() };
  });

/** Topics come before sections. The changelog has too many sections of the same names. */
const listEntries = (): Entry[] => {
  const topics = topicGroups.flatMap((group) => group.topics);
  return [
    ...topics.map(({ name, title, about }): Entry => {
      const words = `${title} ${about}`.toLowerCase();
      return { path: `/help/${name}`, text: title, icon: 'book', hint: 'Help', words };
    }),
    ...topics.filter(({ name }) => name !== 'changelog').flatMap(listSections),
  ];
};

/** Finds topics and sections by a part of their title. */
export const findHelp = (search: string): MatchGroup => {
  const query = search.toLowerCase();
  entries ??= listEntries();
  const matches = query.length < 3 ? [] : entries.filter(({ words }) => words.includes(query));
  return { title: 'Help', matches: matches.slice(0, maxMatches) };
};

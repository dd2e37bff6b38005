/** Reads a topic, with links that lead within help. */
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { idPrefix } from '../../../markdown/convert/resolve_urls.ts';
import { packageRoot } from '../../../../platform/package_files.ts';
import { type Topic, findTopicByFile } from './topics.ts';

export type HelpText = {
  /** Without its first heading. */
  markdown: string;
  /** First paragraph, without markup. */
  summary: string;
};

const texts = new Map<string, HelpText>();

/** Returns the URL of a link; null if it points to a file that help does not have. */
const toAddress = (target: string, file: string): string | null => {
  if (/^(?:[a-z]+:|\/)/.test(target)) return target;
  const [path = '', fragment] = target.split('#');
  const anchor = fragment === undefined ? '' : `#${idPrefix}${fragment}`;
  if (path === '') return anchor;
  const topic = findTopicByFile(posix.join(dirname(file), path));
  return topic === undefined ? null : `/help/${topic.name}${anchor}`;
};

/** Rewrites links to other files of the package; links to files that help does not have become plain text. */
export const rewriteLinks = (markdown: string, file: string): string =>
  markdown.replaceAll(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (_whole, text: string, target: string) => {
    const address = toAddress(target, file);
    return address === null ? text : `[${text}](${address})`;
  });

const summarize = (markdown: string): string =>
  (/^(?!#|\||-|```|!\[)\S.*$/m.exec(markdown)?.[0] ?? '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '');

/** Reads a topic from the package, once. */
export const readTopic = ({ file }: Topic): HelpText => {
  const cached = texts.get(file);
  if (cached !== undefined) return cached;
  const source = readFileSync(join(packageRoot, file), 'utf8').replace(/^# .*\n+/, '');
  const text = { markdown: rewriteLinks(source, file), summary: summarize(source) };
  texts.set(file, text);
  return text;
};

/** Help: the documents of the package, for everybody, without access to the network. */
import { notFound } from '../../../../platform/errors.ts';
import { object, text } from '../../../../platform/http/schema.ts';
import { html } from '../../parts/html.ts';
import { page, type View } from '../../page.ts';
import { loadContent } from './render_topic.ts';
import { readTopic } from './read_topic.ts';
import { aboutHelp, startBody, topicBody } from './topic_parts.ts';
import { type Topic, findTopic } from './topics.ts';

const topicView = async (topic: Topic): Promise<View> => ({
  title: topic.title,
  preview: { description: readTopic(topic).summary || topic.about },
  body: topicBody(topic, await loadContent(topic)),
});

export const pages = [
  page({
    method: 'GET',
    path: '/help',
    audience: 'anyone',
    params: object({}),
    handle: async () => ({
      title: 'Help',
      preview: { description: aboutHelp },
      body: startBody(
        html`${aboutHelp} The reference of every request is the <a href="/-/docs/api">API reference</a>. Press <kbd>?</kbd> on any page for its keyboard shortcuts.`,
      ),
    }),
  }),
  page({
    method: 'GET',
    path: '/help/:topic',
    audience: 'anyone',
    params: object({ topic: text() }),
    handle: async (_visit, params) => {
      const topic = findTopic(params.topic.replace(/\.md$/, ''));
      if (topic === undefined) throw notFound();
      return await topicView(topic);
    },
  }),
];

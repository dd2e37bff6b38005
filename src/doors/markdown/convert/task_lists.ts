import type { StateCore, Token } from 'markdown-it';
import type { Environment } from './options.ts';

const marker = /^\[([ xX~])\]\s+(?=\S)/;

/** Adds a class to a token. */
const addClass = (token: Token | undefined, name: string): void => {
  if (token !== undefined && token.attrGet('class') === null) token.attrSet('class', name);
};

/**
 * Turns `[ ]` at the start of list items into checkboxes that carry the line of their item, counted from 0. The text of
 * `[~]`, a task that does not apply, is struck through.
 */
export const markTasks = ({ tokens, env, Token: NewToken }: StateCore): void => {
  const { nonce } = env as Environment;
  const lists: Token[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open') lists.push(token);
    if (token.type === 'bullet_list_close' || token.type === 'ordered_list_close') lists.pop();
    if (token.type !== 'inline' || tokens[index - 2]?.type !== 'list_item_open') continue;
    const [first] = token.children ?? [];
    const [written, tick] = (first?.type === 'text' ? marker.exec(first.content) : null) ?? [];
    if (first === undefined || written === undefined) continue;
    first.content = first.content.slice(written.length);
    const write = (content: string): Token => Object.assign(new NewToken('html_inline', '', 0), { content });
    const state = tick === ' ' ? '' : tick === '~' ? '~' : 'x';
    token.children?.unshift(write(`<input data-task="${nonce} ${token.map?.[0] ?? 0} ${state}"> `));
    if (tick === '~') {
      token.children?.splice(1, 0, write('<s>'));
      token.children?.push(write('</s>'));
    }
    addClass(tokens[index - 2], 'task-list-item');
    addClass(lists.at(-1), 'task-list');
  }
};

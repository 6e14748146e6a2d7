import { z } from 'zod';
import { boolean, BOOLEAN_FORM } from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';

const groupSettings = {
  enabled: {
    type: boolean,
    expected: BOOLEAN_FORM,
    description: 'Whether NodeGroups are scaled, where the cluster has their definition.',
    env: 'HEADROOM_NODE_GROUPS',
    flag: '--node-groups',
    isSwitch: true,
    default: 'false',
  },
  mode: {
    type: z.enum(['observe', 'act']),
    expected: '"observe" or "act"',
    description:
      'What happens to NodeGroups that say no mode of their own: observe only says what would be done, and why.',
    env: 'HEADROOM_NODE_GROUPS_MODE',
    flag: '--node-groups-mode',
    default: 'observe',
  },
} as const satisfies Settings;

export const nodeGroupSettings = defineSettings(
  { nodeGroups: 'Nodes that come and go' },
  { nodeGroups: groupSettings },
  ['nodeGroups'],
);

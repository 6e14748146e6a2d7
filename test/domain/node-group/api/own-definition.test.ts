import { describe, expect, it } from 'vitest';
import { nodeGroupDefinition, vpsieNodeDefinition } from '../../../../domain/node-group/api/definition.ts';
import { definitionNames, isOwnDefinition } from '../../../../domain/node-group/api/own-definition.ts';

describe('a definition', () => {
  it('is ours with the fields that ours has, and not the one of the VPSie autoscaler or of an earlier version', () => {
    const definitions = [nodeGroupDefinition(), vpsieNodeDefinition()];
    expect(definitions.map(({ metadata }) => metadata.name)).toEqual(definitionNames);
    for (const [at, name] of definitionNames.entries()) {
      expect(isOwnDefinition(name, definitions[at])).toBe(true);
      const foreign = JSON.stringify(definitions[at]).replaceAll(/inVain|phaseSince/g, 'other');
      expect(isOwnDefinition(name, JSON.parse(foreign))).toBe(false);
      expect(isOwnDefinition(name, {})).toBe(false);
    }
  });
});

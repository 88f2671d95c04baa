-- NOT RUN HERE: no Citus was at hand. A share of 10,000 people over several servers.
--
-- By the owner of the database, on the coordinator, after `observer sync add URL --create` on an
-- empty database, and before anybody pushes. Citus has to be in shared_preload_libraries.
--
-- The key is the origin, the home that wrote a record: pushes, the check of a chain and pulls name
-- one, so each is work of one server. A search asks all of them, each for its nearest 60.

CREATE EXTENSION IF NOT EXISTS citus;

-- Small, and joined with everything: on each server.
SELECT create_reference_table('observer.format');
SELECT create_reference_table('observer.part');
SELECT create_reference_table('observer.member');
SELECT create_reference_table('observer.origin');

SELECT create_distributed_table('observer.record', 'origin', shard_count => 64);
SELECT create_distributed_table('observer.entry', 'origin', colocate_with => 'observer.record');

-- What stands in the way, as far as it can be seen without trying:
--
-- * Triggers with transition tables (observer.appended, observer.gone) are not made on shards.
--   Without them there is no audit of pushes, and rows of search stay after a deletion until their
--   home sweeps them, which each round does; a search never shows them, since it asks for
--   tombstones first. That question needs tombstones of other origins, so it is one to all servers.
-- * Roles and policies are made on each server by Citus 12 (citus.enable_create_role_propagation).
-- * INSERT ... SELECT from a temporary table is done by the coordinator.

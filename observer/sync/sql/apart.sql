-- Installed by the owner of the database behind schema.sql; also into a share from before it.

-- Who may connect reads in the server's statistics how much there is, and hears when more comes. Where
-- the database holds nothing but the share, that is for its members; else its owner decides.
DO $$
DECLARE
    here name := current_database();
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO {members}', here);
    IF NOT EXISTS (
        SELECT FROM pg_namespace
        WHERE nspname NOT IN ('observer', 'public', 'information_schema') AND nspname !~ '^pg_'
    ) AND NOT EXISTS (
        SELECT FROM (
            SELECT oid, relnamespace FROM pg_class UNION ALL SELECT oid, pronamespace FROM pg_proc
        ) other (oid, namespace)
        WHERE other.namespace = to_regnamespace('public')
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = other.oid AND d.deptype = 'e')
    ) THEN
        EXECUTE format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', here);
    END IF;
END $$;
